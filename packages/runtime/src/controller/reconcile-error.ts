import { BowlineError } from '../errors/bowline-error.ts';
import type { BackoffRange } from '../queue/backoff.ts';

/**
 * TerminalError means that a retry is useless until a user changes something, usually because of invalid input. The key
 * is not retried; the next event or resync runs it again.
 */
export class TerminalError extends BowlineError {
  /** CamelCase, for conditions and events. */
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super('BOWLINE_RECONCILE_TERMINAL', message, { cause });
    this.name = 'TerminalError';
    this.reason = reason;
  }
}

/** SlowError means that a retry makes sense, but not soon: it carries its own bounds of the backoff. */
export class SlowError extends BowlineError {
  /** CamelCase, for conditions and events. */
  readonly reason: string;
  readonly range: BackoffRange;

  constructor(reason: string, message: string, range: BackoffRange, cause?: unknown) {
    super('BOWLINE_RECONCILE_SLOW', message, { cause, retryable: true });
    this.name = 'SlowError';
    this.reason = reason;
    this.range = range;
  }
}

/**
 * terminal returns the error to throw when a retry cannot help until a person acts.
 *
 * @example
 * throw terminal('InvalidSchedule', `spec.schedule: "${text}" is not a cron expression; write five fields`);
 */
export function terminal(reason: string, message: string, options: { readonly cause?: unknown } = {}): TerminalError {
  return new TerminalError(reason, message, options.cause);
}

/**
 * slow returns the error to throw when something else has to happen first: the first retry happens after `minMs` (30 s
 * by default), later ones after at most `maxMs` (10 min by default).
 *
 * @example
 * throw slow('SourceMissing', 'the secret does not exist in the store yet', { minMs: 60_000, maxMs: 900_000 });
 */
export function slow(
  reason: string,
  message: string,
  options: Partial<BackoffRange> & { readonly cause?: unknown } = {},
): SlowError {
  const minMs = options.minMs ?? 30_000;
  return new SlowError(reason, message, { minMs, maxMs: Math.max(minMs, options.maxMs ?? 600_000) }, options.cause);
}

/** Errors that last until a person decides who an object belongs to. */
const OWNERSHIP_REASONS: Readonly<Record<string, string>> = {
  BOWLINE_FOREIGN_OBJECT: 'ForeignObject',
  BOWLINE_OWNER_CONFLICT: 'OwnerConflict',
};

/**
 * reasonForUsers returns the reason, for conditions and events, of a failure that lasts until a person acts; undefined
 * for any other error.
 */
export function reasonForUsers(error: unknown): string | undefined {
  if (error instanceof TerminalError || error instanceof SlowError) return error.reason;
  return error instanceof BowlineError ? OWNERSHIP_REASONS[error.code] : undefined;
}
