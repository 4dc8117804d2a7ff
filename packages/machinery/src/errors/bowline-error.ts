/** BowlineErrorOptions holds the properties of an error besides its message. */
export interface BowlineErrorOptions {
  /** The underlying error. */
  cause?: unknown;
  /** Whether the same attempt may succeed later without any other change. Defaults to false. */
  retryable?: boolean;
}

/**
 * BowlineError is the base class of every error that the suite throws on purpose. `code` is stable and documented in
 * docs/reference/errors.md; the message describes what was attempted, on what, and what to do next.
 */
export class BowlineError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: `BOWLINE_${string}`, message: string, options: BowlineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BowlineError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
