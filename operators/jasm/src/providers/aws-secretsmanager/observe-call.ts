import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { CredentialsError, failureOf } from './aws-errors.ts';

/**
 * observeCall makes a call and counts it. A call that was never sent, because there are no credentials, is not counted.
 */
export async function observeCall<T>(
  { clock, observe }: Pick<ProviderContext<unknown>, 'clock' | 'observe'>,
  operation: string,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const startedAt = clock.monotonic();
  const report = (code: string): void => observe({ operation, code, ms: clock.monotonic() - startedAt });
  try {
    const result = await call();
    report('OK');
    return result;
  } catch (error) {
    if (signal?.aborted) report(signal.reason instanceof ProviderError ? signal.reason.code : 'Aborted');
    else if (!(error instanceof CredentialsError)) report(failureOf(error).code);
    throw error;
  }
}
