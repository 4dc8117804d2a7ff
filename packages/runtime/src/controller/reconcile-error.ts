import { BowlineError } from '../errors/bowline-error.ts';
import type { BackoffRange } from '../queue/backoff.ts';

/**
 * TerminalError says that trying again is useless until somebody changes something: bad input, above all. The key is
 * not retried; the next event or resync looks at it anew.
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

/** SlowError says that it is worth trying again, but not soon: it brings its own bounds of the backoff. */
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
 * terminal makes the error to throw when only a person can help.
 *
 * @example
 * throw terminal('InvalidSchedule', `spec.schedule: "${text}" is not a cron expression; write five fields`);
 */
export function terminal(reason: string, message: string, options: { readonly cause?: unknown } = {}): TerminalError {
  return new TerminalError(reason, message, options.cause);
}

/**
 * slow makes the error to throw when something else has to happen first: the first retry comes after `minMs` (30 s by
 * default), later ones after at most `maxMs` (10 min by default).
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

/** Refusals that last until a person decides whose an object is. */
const OWNERSHIP_REASONS: Readonly<Record<string, string>> = {
  BOWLINE_FOREIGN_OBJECT: 'ForeignObject',
  BOWLINE_OWNER_CONFLICT: 'OwnerConflict',
};

/** reasonForPeople is the reason, in conditions and events, of a failure that lasts until somebody does something; undefined for every other. */
export function reasonForPeople(error: unknown): string | undefined {
  if (error instanceof TerminalError || error instanceof SlowError) return error.reason;
  return error instanceof BowlineError ? OWNERSHIP_REASONS[error.code] : undefined;
}
