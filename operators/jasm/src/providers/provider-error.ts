/**
 * What went wrong with a call to a store:
 * - `transient`: the same call may succeed in a moment (throttling, 5xx, network, time limit);
 * - `not-found`: no such secret, version or stage;
 * - `denied`: we may not read it, or could not say who we are;
 * - `refused`: anything else that only changes when somebody changes something.
 */
export type ProviderErrorKind = 'transient' | 'not-found' | 'denied' | 'refused';

/** ProviderErrorOptions says what went wrong. */
export interface ProviderErrorOptions {
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  /** The store's operation, for instance `GetSecretValue`. */
  readonly operation: string;
  /** A short stable word for metrics: the store's error name or the HTTP status. */
  readonly code: string;
  /** How long the store asks us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * ProviderError is a failed call to a store. Its message is shown to users: it says what to do next and holds neither values,
 * credentials nor request ids, and it is the same each time the same thing goes wrong.
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

/** PathInvalid is thrown for a path that its provider cannot have; the message says what a path looks like. */
export class PathInvalid extends Error {
  override readonly name = 'PathInvalid';
}
