import type { Cause } from './cause.ts';
import type { HeapNode } from './indexed-heap.ts';
import type { QueueEntry } from './queue-options.ts';

/** Entry is a key in a queue. */
export interface Entry extends HeapNode {
  readonly key: string;
  /** The priority of the next run; meaningless unless pending. */
  priority: number;
  /** The priority of the current run. */
  runningPriority: number;
  /** Monotonic time before which the key is not handed out. */
  readyAt: number;
  /** Orders entries that are otherwise equal: first in, first out. */
  order: number;
  readySince: number;
  /** Undefined unless a worker has the key. */
  runningSince: number | undefined;
  /** Whether the key is to be handed out (again). */
  pending: boolean;
  /** Which heap holds it, if any. */
  place: 'ready' | 'delayed' | 'none';
  causes: Cause[];
  /** Causes of delayed adds: each applies to a run that starts at its time or later. */
  timedCauses: TimedCause[];
  droppedCauses: number;
  /** Causes of the current run, for `entries`. */
  runningCauses: readonly Cause[];
}

/** TimedCause is the cause of an add with a delay. */
export interface TimedCause {
  readonly cause: Cause;
  /** Monotonic time at which its timer fires. */
  readonly at: number;
}

/** NO_TIMED_CAUSES is shared by every key without a delayed add; never pushed to. */
export const NO_TIMED_CAUSES: TimedCause[] = [];

/** NO_CAUSES is shared by every key without a cause; never pushed to. */
export const NO_CAUSES: Cause[] = [];

/** newEntry returns a key that is neither waiting nor running. */
export function newEntry(key: string): Entry {
  return {
    key,
    heapIndex: -1,
    priority: 0,
    runningPriority: 0,
    readyAt: 0,
    order: 0,
    readySince: 0,
    runningSince: undefined,
    pending: false,
    place: 'none',
    causes: NO_CAUSES,
    timedCauses: NO_TIMED_CAUSES,
    droppedCauses: 0,
    runningCauses: NO_CAUSES,
  };
}

/** causesAt returns the causes of a run that starts at `now`. Timers that have not fired by then are not among them. */
export function causesAt({ causes, timedCauses }: Entry, now: number): Cause[] {
  if (timedCauses === NO_TIMED_CAUSES) return causes;
  const fired = timedCauses.filter(({ at }) => at <= now);
  return fired.length === 0 ? causes : [...causes, ...fired.map(({ cause }) => cause)];
}

/** describeEntry describes the state of a key, for people. */
export function describeEntry(entry: Entry, now: number, failures: number): QueueEntry {
  const { key, droppedCauses, priority } = entry;
  if (entry.runningSince !== undefined) {
    return {
      key,
      state: 'running',
      priority: entry.runningPriority,
      failures,
      causes: entry.runningCauses,
      droppedCauses,
      runningForMs: now - entry.runningSince,
    };
  }
  if (entry.place === 'ready') {
    return { key, state: 'ready', priority, failures, causes: causesAt(entry, now), droppedCauses };
  }
  const causes = causesAt(entry, Number.POSITIVE_INFINITY);
  const readyInMs = Math.max(0, entry.readyAt - now);
  return { key, state: 'delayed', priority, failures, causes, droppedCauses, readyInMs };
}
