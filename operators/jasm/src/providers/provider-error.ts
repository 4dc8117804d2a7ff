/**
 * ProviderErrorKind classifies the failure of a call to a store:
 * - `transient`: the same call may succeed soon (throttling, 5xx, network, time limit);
 * - `not-found`: no such secret, version or stage;
 * - `denied`: we may not read it, or could not authenticate;
 * - `refused`: anything else that lasts until someone changes something.
 */
export type ProviderErrorKind = 'transient' | 'not-found' | 'denied' | 'refused';

/** ProviderErrorOptions describes the failure. */
export interface ProviderErrorOptions {
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  /** The store's operation, for instance `GetSecretValue`. */
  readonly operation: string;
  /** A short stable code for metrics: the store's error name or the HTTP status. */
  readonly code: string;
  /** How long the store requests us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * ProviderError is a failed call to a store. Its message is shown to users: it names the next step, contains no values,
 * credentials or request ids, and is the same for each repetition of the same failure.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  readonly operation: string;
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { kind, provider, operation, code, retryAfterMs }: ProviderErrorOptions) {
    super(message);
    this.kind = kind;
    this.provider = provider;
    this.operation = operation;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** PathInvalid is thrown for a path that is not valid for its provider; the message describes the path format. */
export class PathInvalid extends Error {
  override readonly name = 'PathInvalid';
}
