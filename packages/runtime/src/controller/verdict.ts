import { isConflict } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { BackoffRange } from '../queue/backoff.ts';
import type { Outcome } from './controller-metrics.ts';
import { reasonForUsers, SlowError, TerminalError } from './reconcile-error.ts';

/** Verdict is the consequence of how a reconcile ended. */
export interface Verdict {
  readonly outcome: Outcome;
  /** What happens to the key; `again` waits `afterMs`, `backoff` counts a failure. */
  readonly next: 'rest' | 'again' | 'backoff';
  readonly afterMs?: number;
  readonly range?: BackoffRange | undefined;
  readonly error?: unknown;
  readonly terminal?: boolean;
  readonly panic?: boolean;
}

/** After this many conflicts in a row another writer interferes: then a conflict is an error like any other. */
const MAX_QUICK_CONFLICTS = 10;

/** A conflict is over as soon as the cache has seen the conflicting change. */
const CONFLICT_RANGE: BackoffRange = { minMs: 5, maxMs: 1_000 };

/**
 * An object that is not ours stays until a person acts, so retrying immediately is useless. But they act on an object
 * that we may not watch, and should not have to wait long afterwards.
 */
const OWNERSHIP_RANGE: BackoffRange = { minMs: 5_000, maxMs: 120_000 };

const NO_REQUEUE: Verdict = { outcome: 'success', next: 'rest' };

/** judgeResult returns the verdict for the result of a reconcile. */
export function judgeResult(result: unknown): Verdict {
  if (result === undefined || result === null) return NO_REQUEUE;
  const afterMs: unknown = (result as { requeueAfterMs?: unknown }).requeueAfterMs;
  if (afterMs === undefined) return NO_REQUEUE;
  if (typeof afterMs !== 'number' || Number.isNaN(afterMs)) {
    const error = new BowlineError(
      'BOWLINE_RECONCILE_RESULT',
      'the reconcile returned a requeueAfterMs that is not a number; return milliseconds, or omit it',
    );
    return { outcome: 'error', next: 'backoff', error, panic: true };
  }
  // A requeue without a delay means as soon as the backoff allows: otherwise a reconcile that always requests it would
  // never stop.
  if (afterMs <= 0) return { outcome: 'requeue', next: 'backoff' };
  return { outcome: 'requeue_after', next: 'again', afterMs };
}

/** judgeError returns the verdict for an error that a reconcile threw after `failures` failures in a row. */
export function judgeError(thrown: unknown, failures: number): Verdict {
  if (thrown instanceof TerminalError) return { outcome: 'error', next: 'rest', error: thrown, terminal: true };
  if (thrown instanceof SlowError) return { outcome: 'error', next: 'backoff', error: thrown, range: thrown.range };
  // The object changed meanwhile. AlreadyExists is not treated like this: it may last permanently.
  if (isConflict(thrown) && failures < MAX_QUICK_CONFLICTS) {
    return { outcome: 'requeue', next: 'backoff', range: CONFLICT_RANGE, error: thrown };
  }
  if (reasonForUsers(thrown)) return { outcome: 'error', next: 'backoff', error: thrown, range: OWNERSHIP_RANGE };
  return { outcome: 'error', next: 'backoff', error: asError(thrown), panic: isPanic(thrown) };
}

function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  // The value itself is not kept: its content is unknown, and errors are logged.
  const text = typeof thrown === 'string' ? thrown : `a value of type ${thrown === null ? 'null' : typeof thrown}`;
  return new BowlineError('BOWLINE_RECONCILE_THREW', `the reconcile threw a value that is not an Error: ${text}`);
}

/**
 * Reports whether only a bug throws this. `fetch` reports an unreachable server as a TypeError with a cause, which is
 * not a bug.
 */
function isPanic(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return true;
  return (
    thrown instanceof ReferenceError ||
    thrown instanceof RangeError ||
    (thrown instanceof TypeError && thrown.cause === undefined)
  );
}
