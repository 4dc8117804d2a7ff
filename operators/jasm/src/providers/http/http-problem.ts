import type { Clock } from '@bowline/machinery';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';

/** FailedCall identifies the call that failed. */
export interface FailedCall {
  readonly provider: string;
  readonly operation: string;
  readonly url: URL;
}

/** The OpenSSL codes for a certificate that is not trusted. Others start with CERT_ or ERR_TLS_. */
const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * networkProblem converts the error of a call without a response to a ProviderError, and reports whether a certificate
 * was not trusted.
 */
export function networkProblem(
  error: unknown,
  { provider, operation, url }: FailedCall,
): { readonly problem: ProviderError; readonly isUntrusted: boolean } {
  const code = codeOf(error);
  const isUntrusted = UNTRUSTED_CODES.has(code) || /^(?:CERT_|ERR_TLS_|ERR_SSL_)/.test(code);
  const problem = isUntrusted
    ? `its certificate is not trusted (${code}): add its certificate authority to caFile, or correct the address`
    : `${code}; it is retried`;
  return {
    isUntrusted,
    problem: new ProviderError(`cannot reach ${url.origin}: ${problem}`, {
      kind: isUntrusted ? 'refused' : 'transient',
      provider,
      operation,
      code,
    }),
  };
}

/** statusKind returns the meaning of an HTTP status, unless a store gives it another one. */
export function statusKind(status: number): ProviderErrorKind {
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'not-found';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'transient' : 'refused';
}

/** retryAfterMs parses the header Retry-After: seconds, or a date. */
export function retryAfterMs(header: string | readonly string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1000;
  const until = Date.parse(header);
  return Number.isNaN(until) ? undefined : Math.max(0, until - clock.now());
}

/**
 * Returns the code of an error or of its cause: undici wraps socket errors, and several addresses cause several errors.
 */
function codeOf(error: unknown): string {
  for (let each = error, depth = 0; each instanceof Error && depth < 5; depth++) {
    if ('code' in each && typeof each.code === 'string' && each.code !== 'UND_ERR') return each.code;
    each = each instanceof AggregateError ? each.errors[0] : each.cause;
  }
  return 'NoAnswer';
}
