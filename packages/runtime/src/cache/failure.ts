import { ApiError } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { ReconnectReason } from './health.ts';

/** Failure classifies an error of a list or watch by how a reflector has to handle it. */
export interface Failure {
  readonly kind:
    | 'expired'
    | 'too-large'
    | 'not-served'
    | 'forbidden'
    | 'unauthorized'
    | 'throttled'
    | 'server-error'
    | 'refused'
    | 'decode'
    | 'transport'
    | 'silent'
    | 'no-end'
    | 'cut'
    | 'short'
    | 'rewound';
  readonly reason: ReconnectReason;
  /** The Retry-After of the server. */
  readonly retryAfterMs: number;
  readonly message: string;
}

/** failureOf classifies an error. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return { ...classify(error), message, retryAfterMs };
}

/** The codes of errors thrown by the reflector itself and by the client's decoder. */
const byCode: Readonly<Record<string, Pick<Failure, 'kind' | 'reason'>>> = {
  BOWLINE_WATCH_DECODE: { kind: 'decode', reason: 'decode' },
  BOWLINE_WATCH_SILENT: { kind: 'silent', reason: 'idle' },
  BOWLINE_WATCH_ENDLESS: { kind: 'no-end', reason: 'no-end-bookmark' },
  BOWLINE_WATCH_CUT: { kind: 'cut', reason: 'transport' },
  BOWLINE_WATCH_SHORT: { kind: 'short', reason: 'short' },
  BOWLINE_WATCH_REWOUND: { kind: 'rewound', reason: 'rewound' },
};

function classify(error: unknown): Pick<Failure, 'kind' | 'reason'> {
  if (error instanceof ApiError) return classifyApiError(error);
  const own = error instanceof BowlineError ? byCode[error.code] : undefined;
  return own ?? { kind: 'transport', reason: 'transport' };
}

function classifyApiError(error: ApiError): Pick<Failure, 'kind' | 'reason'> {
  if (isTooLarge(error)) return { kind: 'too-large', reason: 'expired' };
  switch (error.status) {
    case 401:
      return { kind: 'unauthorized', reason: 'unauthorized' };
    case 403:
      return { kind: 'forbidden', reason: 'forbidden' };
    case 404:
      return { kind: 'not-served', reason: 'not-served' };
    case 410:
      return { kind: 'expired', reason: 'expired' };
    case 429:
      return { kind: 'throttled', reason: 'throttled' };
    case 501:
      return { kind: 'refused', reason: 'other' };
    default:
      return error.status >= 500
        ? { kind: 'server-error', reason: 'server-error' }
        : { kind: 'refused', reason: 'other' };
  }
}

/**
 * The server's state is older than the requested resourceVersion: it lags behind another replica, or its etcd was
 * restored. The server waits three seconds for its own state to catch up before it returns this error.
 */
function isTooLarge(error: ApiError): boolean {
  return error.status === 504 && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}
