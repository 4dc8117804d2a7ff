import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { CredentialsError, failureOf } from './aws-errors.ts';

/**
 * observed makes a call and counts it. A call that was never sent, because there are no credentials, is not counted.
 */
export async function observed<T>(
  { clock, observe }: Pick<ProviderContext<unknown>, 'clock' | 'observe'>,
  operation: string,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const startedAt = clock.monotonic();
  const end = (code: string): void => observe({ operation, code, ms: clock.monotonic() - startedAt });
  try {
    const answer = await call();
    end('OK');
    return answer;
  } catch (error) {
    if (signal?.aborted) end(signal.reason instanceof ProviderError ? signal.reason.code : 'Aborted');
    else if (!(error instanceof CredentialsError)) end(failureOf(error).code);
    throw error;
  }
}
