import { BowlineError } from '@bowline/runtime';
import { ApiError } from '@bowline/runtime/client';
import type { ProviderContext } from '../provider.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';

/** ClusterCall is one call to the API server that counts as a call to a store. */
export interface ClusterCall<T> extends Pick<ProviderContext<unknown>, 'clock' | 'observe'> {
  readonly provider: string;
  /** The verb. */
  readonly operation: string;
  readonly namespace: string;
  /** The name of the Secret. */
  readonly name: string;
  readonly call: () => Promise<T>;
  readonly signal: AbortSignal;
}

/** clusterCall makes the call and counts it; failures become ProviderErrors. */
export async function clusterCall<T>(call: ClusterCall<T>): Promise<T> {
  const { operation, clock, observe, signal } = call;
  const startedAt = clock.monotonic();
  const report = (code: string): void => observe({ operation, code, ms: clock.monotonic() - startedAt });
  try {
    const result = await call.call();
    report('OK');
    return result;
  } catch (error) {
    signal.throwIfAborted();
    const problem = error instanceof ProviderError ? error : problemOf(error, call);
    report(problem.code);
    throw problem;
  }
}

function problemOf(error: unknown, { provider, operation, namespace, name }: ClusterCall<unknown>): ProviderError {
  const errorOf = (kind: ProviderErrorKind, code: string, problem: string): ProviderError =>
    new ProviderError(`cannot read the Secret ${namespace}/${name}: ${problem}`, {
      kind,
      provider,
      operation,
      code,
      retryAfterMs: error instanceof ApiError ? error.retryAfterMs : undefined,
    });
  const isUndeclared = error instanceof BowlineError && error.code === 'BOWLINE_UNDECLARED_PERMISSION';
  if (isUndeclared || (error instanceof ApiError && [401, 403].includes(error.status))) {
    return errorOf(
      'denied',
      'Forbidden',
      `the operator may not ${operation} secrets in the namespace ${namespace}; add the namespace to --namespaces, or run the operator for all namespaces`,
    );
  }
  if (error instanceof ApiError) {
    return error.retryable
      ? errorOf('transient', error.reason, 'the API server is temporarily unavailable; it is retried')
      : errorOf('refused', error.reason, `the API server rejected the request with ${error.reason}`);
  }
  if (error instanceof BowlineError) {
    return error.retryable
      ? errorOf('transient', error.code, 'the API server cannot be reached; it is retried')
      : errorOf('refused', error.code, `the call failed with ${error.code}`);
  }
  return errorOf('transient', 'Unknown', 'the call failed; it is retried');
}
