import type { Clock, Random } from '@bowline/machinery';
import type { Metrics } from '../observability/metrics.ts';
import type { BackoffOptions, BackoffRange } from './backoff.ts';
import type { Cause } from './cause.ts';

/**
 * LOW_PRIORITY is for work that no user waits for: the initial list and resyncs. A change made by a client overtakes
 * it.
 */
export const LOW_PRIORITY = -100;

/** QueueOptions configures a queue. */
export interface QueueOptions {
  /** The `name` label of its metrics. */
  readonly name: string;
  /** The `controller` label of its metrics. Defaults to `name`. */
  readonly controller?: string | undefined;
  /**
   * Delays after failures. Defaults to 5 ms up to 1000 s, doubling, each shortened by a random share of up to a tenth.
   */
  readonly backoff?: BackoffOptions | undefined;
  /** How many causes are kept per key; the others are only counted. Defaults to 16. */
  readonly maxCauses?: number | undefined;
  /**
   * Above this many keys no causes are kept, so that a flood costs the least memory per key. No key is ever refused: a
   * level-triggered queue that drops a key has lost a state, and one entry per key is bounded by the number of keys.
   * Defaults to 100,000.
   */
  readonly detailedKeys?: number | undefined;
  /** Defaults to the system's clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's randomness. */
  readonly random?: Random | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
}

/** AddOptions configures when, how urgently and why a key is processed. */
export interface AddOptions {
  /** Higher goes first. Defaults to 0. */
  readonly priority?: number | undefined;
  /** The key is not handed out before this much time has passed. Defaults to 0. */
  readonly afterMs?: number | undefined;
  readonly cause?: Cause | undefined;
}

/** RetryOptions configures the retry after a failure. */
export interface RetryOptions {
  /** Bounds of the delay, instead of the queue's own. */
  readonly range?: BackoffRange | undefined;
  /**
   * Whether the failure was a conflict, which is over soon: a key that is due much later then returns within the range.
   */
  readonly soon?: boolean | undefined;
  /** The code of the error, for the cause. */
  readonly code?: string | undefined;
}

/** QueueItem is a key handed out to a worker, which must call `done` for it. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  readonly causes: readonly Cause[];
  /** How many causes were dropped. */
  readonly droppedCauses: number;
  /** How often in a row the key has failed. */
  readonly failures: number;
}

/** QueueEntry describes a key for people: dashboards and reports. */
export interface QueueEntry {
  readonly key: string;
  readonly state: 'ready' | 'delayed' | 'running';
  readonly priority: number;
  readonly failures: number;
  readonly causes: readonly Cause[];
  readonly droppedCauses: number;
  /** For a delayed key: how long until it is ready. */
  readonly readyInMs?: number;
  /** For a running key: how long it has been running. */
  readonly runningForMs?: number;
}
