/** BowlineErrorOptions describes an error beyond its text. */
export interface BowlineErrorOptions {
  /** What went wrong underneath. */
  cause?: unknown;
  /** Whether the same attempt may succeed later without anybody changing anything. Defaults to false. */
  retryable?: boolean;
}

/**
 * BowlineError is the base of every error that the suite throws on purpose. `code` is stable and documented in
 * docs/reference/errors.md; the message says what was attempted, on what, and what to do next.
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
