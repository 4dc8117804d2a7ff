import type { Clock, Random } from '@bowline/machinery';
import type { Metrics } from '../observability/metrics.ts';
import type { BackoffOptions, BackoffRange } from './backoff.ts';
import type { Cause } from './cause.ts';

/** LOW_PRIORITY is for what nobody waits for: the initial list and resyncs. A change made by somebody overtakes it. */
export const LOW_PRIORITY = -100;

/** QueueOptions configures a queue. */
export interface QueueOptions {
  /** The `name` label of its metrics. */
  readonly name: string;
  /** The `controller` label of its metrics. Defaults to `name`. */
  readonly controller?: string | undefined;
  /** Delays after failures. Defaults to 5 ms up to 1000 s, doubling, less up to a tenth by chance. */
  readonly backoff?: BackoffOptions | undefined;
  /** How many causes are kept per key; the rest is counted. Defaults to 16. */
  readonly maxCauses?: number | undefined;
  /**
   * Past this many keys no causes are kept, so that a flood costs the least memory per key. No key is ever refused: a
   * level-triggered queue that drops a key has lost a state, and one entry per key is bounded by the keys there are.
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

/** AddOptions says when, how urgently and why a key is to be worked on. */
export interface AddOptions {
  /** Higher goes first. Defaults to 0. */
  readonly priority?: number | undefined;
  /** Not before this much time has passed. Defaults to 0. */
  readonly afterMs?: number | undefined;
  readonly cause?: Cause | undefined;
}

/** RetryOptions says how to come back after a failure. */
export interface RetryOptions {
  /** Bounds of the delay in place of the queue's own. */
  readonly range?: BackoffRange | undefined;
  /** Whether it was a collision, which is over soon: then a key that is due much later comes back within the range. */
  readonly soon?: boolean | undefined;
  /** The failed error's code, for the cause. */
  readonly code?: string | undefined;
}

/** QueueItem is a key handed out to be worked on; `done` must follow. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  readonly causes: readonly Cause[];
  /** How many more causes there were than were kept. */
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
