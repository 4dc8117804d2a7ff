import { type Clock, type Random, systemClock, systemRandom, type Timer } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { noMetrics } from '../observability/metrics.ts';
import { type BackoffRange, backoffMs, DEFAULT_BACKOFF } from './backoff.ts';
import { type Cause, isSameCause } from './cause.ts';
import { IndexedHeap } from './indexed-heap.ts';
import { causesAt, describeEntry, type Entry, NO_CAUSES, NO_TIMED_CAUSES, newEntry } from './queue-entry.ts';
import { QueueMetrics } from './queue-metrics.ts';
import {
  type AddOptions,
  LOW_PRIORITY,
  type QueueEntry,
  type QueueItem,
  type QueueOptions,
  type RetryOptions,
} from './queue-options.ts';

/** RetrySchedule holds when a failing key is retried. Only a run at or after `dueAt` counts as an attempt. */
interface RetrySchedule {
  readonly failures: number;
  /** When the last counted failure happened. */
  readonly failedAt: number;
  readonly range: BackoffRange | undefined;
  readonly dueAt: number;
}

/**
 * Queue holds the keys that need work: one entry per key, one worker per key at a time. An add while a key is running
 * runs it once more afterwards; of several adds the earliest time and the highest priority win, and a raised priority
 * goes to the end of its new class. Failures delay a key exponentially; its priority survives them. An add runs a
 * failing key at once and leaves its backoff alone: if that run fails too, the key is retried at the time it was due
 * anyway.
 *
 * @example
 * const queue = new Queue({ name: 'sites' });
 * queue.add('default/a', { cause: { by: 'enqueue' } });
 * for (let item = await queue.next(); item; item = await queue.next()) {
 *   try {
 *     await work(item.key);
 *     queue.forget(item.key);
 *   } catch {
 *     queue.retry(item.key);
 *   } finally {
 *     queue.done(item.key);
 *   }
 * }
 */
export class Queue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff;
  readonly #maxCauses: number;
  readonly #detailedKeys: number;
  readonly #metrics: QueueMetrics;

  readonly #entries = new Map<string, Entry>();
  readonly #running = new Set<Entry>();
  readonly #schedules = new Map<string, RetrySchedule>();
  readonly #ready = new IndexedHeap<Entry>((a, b) =>
    a.priority === b.priority ? a.order < b.order : a.priority > b.priority,
  );
  readonly #delayed = new IndexedHeap<Entry>((a, b) =>
    a.readyAt === b.readyAt ? a.order < b.order : a.readyAt < b.readyAt,
  );
  readonly #depthByPriority = new Map<number, number>([
    [0, 0],
    [LOW_PRIORITY, 0],
  ]);
  readonly #capacityWaiters = new Set<() => void>();
  readonly #waiters = new Set<(item: QueueItem | undefined) => void>();
  #order = 0;
  #timer: Timer | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #closed = false;
  readonly #drained: Promise<void>;
  #resolveDrained: () => void = () => {};

  constructor(options: QueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#backoff = {
      minMs: options.backoff?.minMs ?? DEFAULT_BACKOFF.minMs,
      maxMs: options.backoff?.maxMs ?? DEFAULT_BACKOFF.maxMs,
      factor: options.backoff?.factor ?? DEFAULT_BACKOFF.factor,
      jitter: options.backoff?.jitter ?? DEFAULT_BACKOFF.jitter,
    };
    this.#maxCauses = options.maxCauses ?? 16;
    this.#detailedKeys = options.detailedKeys ?? 100_000;
    this.#drained = new Promise((resolve) => {
      this.#resolveDrained = resolve;
    });
    this.#metrics = new QueueMetrics(options.metrics ?? noMetrics, options.name, options.controller ?? options.name, {
      depthByPriority: this.#depthByPriority,
      runningSince: () => this.#startTimes(),
      nowMs: () => this.#clock.monotonic(),
    });
  }

  /** depth returns how many keys are ready and wait for a worker. */
  get depth(): number {
    this.#promote();
    return this.#ready.size;
  }

  /** size returns the number of all keys: ready, delayed and running. */
  get size(): number {
    return this.#entries.size;
  }

  /** has reports whether the key is waiting or running. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** add enqueues a key. It returns false after `shutDown`: the key was not accepted. */
  add(key: string, options: AddOptions = {}): boolean {
    if (this.#closed) return false;
    const { priority = 0, afterMs = 0, cause } = options;
    const now = this.#clock.monotonic();
    this.#addAt(key, priority, afterMs > 0 ? now + afterMs : now, cause, now);
    return true;
  }

  #addAt(key: string, priority: number, readyAt: number, cause: Cause | undefined, now: number): void {
    let entry = this.#entries.get(key);
    if (entry?.pending) {
      if (cause) this.#addCause(entry, cause, readyAt, now);
      this.#merge(entry, priority, readyAt, now);
    } else {
      if (entry === undefined) {
        entry = newEntry(key);
        this.#entries.set(key, entry);
      }
      if (cause) this.#addCause(entry, cause, readyAt, now);
      entry.pending = true;
      entry.priority = priority;
      entry.readyAt = readyAt;
      if (entry.runningSince === undefined) this.#insert(entry, now);
    }
    this.#handOver();
  }

  /** take returns the most urgent ready key, or undefined if there is none. It does not wait. */
  take(): QueueItem | undefined {
    this.#promote();
    const entry = this.#ready.pop();
    if (entry === undefined) return undefined;
    const now = this.#clock.monotonic();
    this.#countDepth(entry.priority, -1);
    this.#metrics.taken(now - entry.readySince);
    const item: QueueItem = {
      key: entry.key,
      priority: entry.priority,
      causes: causesAt(entry, now),
      droppedCauses: entry.droppedCauses,
      failures: this.#failuresOf(entry),
    };
    entry.place = 'none';
    entry.pending = false;
    entry.runningSince = now;
    entry.runningPriority = entry.priority;
    entry.runningCauses = item.causes;
    entry.causes = NO_CAUSES;
    entry.timedCauses = NO_TIMED_CAUSES;
    entry.droppedCauses = 0;
    this.#running.add(entry);
    return item;
  }

  /** next waits for a key. It returns undefined once the queue is shut down and has no keys left to hand out. */
  next(signal?: AbortSignal): Promise<QueueItem | undefined> {
    const item = this.take();
    if (item !== undefined || this.#closed) return Promise.resolve(item);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal?.reason);
      };
      const waiter = (given: QueueItem | undefined): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(given);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** done ends the work on a key, which becomes ready again if it was added meanwhile. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.runningSince === undefined) {
      throw new BowlineError(
        'BOWLINE_QUEUE_MISUSE',
        `cannot mark the key ${key} as done: no worker is processing it; call done once per item`,
      );
    }
    const now = this.#clock.monotonic();
    this.#metrics.finished(now - entry.runningSince);
    entry.runningSince = undefined;
    entry.runningCauses = NO_CAUSES;
    this.#running.delete(entry);
    if (entry.pending) this.#insert(entry, now);
    else this.#entries.delete(key);
    this.#handOver();
    if (this.#capacityWaiters.size > 0) this.#wakeCapacityWaiters();
    this.#resolveIfDrained();
  }

  /** whenBelow resolves once there are fewer keys than `limit`, the signal is aborted or the queue is shut down. */
  async whenBelow(limit: number, signal: AbortSignal): Promise<void> {
    while (this.size >= limit && !signal.aborted && !this.#closed) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          this.#capacityWaiters.delete(wake);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        this.#capacityWaiters.add(wake);
      });
    }
  }

  #wakeCapacityWaiters(): void {
    for (const wake of this.#capacityWaiters) wake();
  }

  /**
   * retry counts a failure of a key and adds it again after the backoff, at its previous priority. It returns the
   * delay. A run that an add caused before the backoff was over is not counted: the key keeps its due time. An add
   * during the run wins, because there is new state to reconcile.
   */
  retry(key: string, options: RetryOptions = {}): number {
    const now = this.#clock.monotonic();
    const schedule = this.#scheduleAfter(this.#schedules.get(key), options.range, now);
    const { failures, dueAt } = schedule;
    const at = options.soon && options.range ? Math.min(dueAt, now + options.range.maxMs) : dueAt;
    if (this.#closed) return at - now;
    this.#schedules.set(key, schedule);
    this.#metrics.retried();
    const priority = this.#entries.get(key)?.runningPriority ?? 0;
    this.#addAt(key, priority, at, { by: 'retry', attempt: failures + 1, code: options.code }, now);
    return at - now;
  }

  /**
   * defer adds a key that was handed out again for later, with its causes. Its failure count and its retry time do not
   * change.
   */
  defer({ key, priority, causes }: QueueItem, afterMs: number): void {
    if (this.#closed) return;
    const now = this.#clock.monotonic();
    const schedule = this.#schedules.get(key);
    if (schedule && schedule.dueAt > now) {
      this.#addAt(key, priority, schedule.dueAt, { by: 'retry', attempt: schedule.failures + 1 }, now);
    }
    this.#addAt(key, priority, now + afterMs, causes[0], now);
  }

  #scheduleAfter(before: RetrySchedule | undefined, range: BackoffRange | undefined, now: number): RetrySchedule {
    if (before !== undefined && before.dueAt > now) {
      if (range?.minMs === before.range?.minMs && range?.maxMs === before.range?.maxMs) return before;
      // Another kind of failure may need a longer delay. It is counted from the same failure: events cannot postpone it
      // further.
      const dueAt = before.failedAt + this.#backoffAfter(before.failures, range);
      return dueAt > before.dueAt ? { ...before, range, dueAt } : before;
    }
    const failures = (before?.failures ?? 0) + 1;
    return { failures, failedAt: now, range, dueAt: now + this.#backoffAfter(failures, range) };
  }

  #backoffAfter(failures: number, range: BackoffRange | undefined): number {
    return backoffMs(failures, { ...this.#backoff, ...range }, this.#random);
  }

  /** forget resets the failures of a key: the next failure starts the backoff from the beginning. */
  forget(key: string): void {
    this.#schedules.delete(key);
  }

  #failuresOf({ key }: Entry): number {
    return this.#schedules.get(key)?.failures ?? 0;
  }

  /** entries describes the keys, running ones first, at most `limit` (defaults to 1,000). */
  entries(limit = 1000): QueueEntry[] {
    this.#promote();
    const now = this.#clock.monotonic();
    const described: QueueEntry[] = [];
    for (const entry of this.#running) {
      if (described.length < limit) described.push(describeEntry(entry, now, this.#failuresOf(entry)));
    }
    for (const entry of this.#entries.values()) {
      if (described.length >= limit) break;
      if (entry.runningSince === undefined) described.push(describeEntry(entry, now, this.#failuresOf(entry)));
    }
    return described;
  }

  /**
   * shutDown refuses further keys and resolves when every key that was handed out is done. Ready keys are still handed
   * out first, unless `discard` is set; delayed ones are dropped: they would not become due, and the next process sees
   * every object again.
   */
  shutDown(options: { readonly discard?: boolean | undefined } = {}): Promise<void> {
    this.#closed = true;
    this.#disarm();
    for (const entry of this.#delayed.clear()) this.#entries.delete(entry.key);
    if (options.discard) {
      for (const entry of this.#ready.clear()) {
        this.#countDepth(entry.priority, -1);
        this.#entries.delete(entry.key);
      }
    }
    this.#wakeCapacityWaiters();
    const now = this.#clock.monotonic();
    for (const entry of this.#running) {
      if (options.discard || entry.readyAt > now) entry.pending = false;
    }
    this.#resolveIfDrained();
    return this.#drained;
  }

  /** merge keeps the earlier time and the higher priority. */
  #merge(entry: Entry, priority: number, readyAt: number, now: number): void {
    const raised = priority > entry.priority;
    if (raised) {
      if (entry.place === 'ready') {
        this.#countDepth(entry.priority, -1);
        this.#countDepth(priority, 1);
      }
      entry.priority = priority;
    }
    if (readyAt < entry.readyAt) {
      entry.readyAt = readyAt;
      if (entry.place === 'delayed') {
        this.#delayed.remove(entry);
        this.#insert(entry, now);
        return;
      }
    }
    if (raised && entry.place === 'ready') {
      entry.order = this.#order++;
      this.#ready.fix(entry);
    }
  }

  /** insert puts a pending entry that is not running into the heap where it belongs. */
  #insert(entry: Entry, now: number): void {
    entry.order = this.#order++;
    if (entry.readyAt <= now) {
      entry.place = 'ready';
      entry.readySince = now;
      this.#ready.push(entry);
      this.#countDepth(entry.priority, 1);
      this.#metrics.added();
    } else {
      entry.place = 'delayed';
      this.#delayed.push(entry);
      this.#arm(now);
    }
  }

  /** promote makes the delayed keys that are due ready, in the order of their due times. */
  #promote(): void {
    let first = this.#delayed.peek();
    if (first === undefined) return;
    const now = this.#clock.monotonic();
    while (first !== undefined && first.readyAt <= now) {
      this.#delayed.remove(first);
      this.#insert(first, now);
      first = this.#delayed.peek();
    }
  }

  /** arm keeps one timer, for the earliest delayed key. */
  #arm(now: number): void {
    const first = this.#delayed.peek();
    if (first === undefined || first.readyAt >= this.#timerDue) return;
    this.#timer?.cancel();
    this.#timerDue = first.readyAt;
    this.#timer = this.#clock.setTimer(first.readyAt - now, () => {
      this.#timer = undefined;
      this.#timerDue = Number.POSITIVE_INFINITY;
      this.#promote();
      this.#handOver();
      this.#arm(this.#clock.monotonic());
    });
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDue = Number.POSITIVE_INFINITY;
  }

  /** handOver hands ready keys to the waiting workers. */
  #handOver(): void {
    for (const waiter of this.#waiters) {
      const item = this.take();
      if (item === undefined) return;
      this.#waiters.delete(waiter);
      waiter(item);
    }
  }

  #resolveIfDrained(): void {
    if (!this.#closed || this.#ready.size > 0) return;
    for (const waiter of this.#waiters) {
      this.#waiters.delete(waiter);
      waiter(undefined);
    }
    if (this.#running.size > 0) return;
    this.#schedules.clear();
    this.#metrics[Symbol.dispose]();
    this.#resolveDrained();
  }

  #addCause(entry: Entry, cause: Cause, at: number, now: number): void {
    const { causes, timedCauses } = entry;
    if (this.#entries.size > this.#detailedKeys || causes.length + timedCauses.length >= this.#maxCauses) {
      entry.droppedCauses += 1;
    } else if (at > now) {
      if (timedCauses === NO_TIMED_CAUSES) entry.timedCauses = [{ cause, at }];
      else timedCauses.push({ cause, at });
    } else {
      const last = causes.at(-1);
      if (last === undefined) entry.causes = [cause];
      else if (!isSameCause(last, cause)) causes.push(cause);
    }
  }

  #countDepth(priority: number, change: number): void {
    const count = (this.#depthByPriority.get(priority) ?? 0) + change;
    // Two priorities always exist. A few more keep their series at zero; beyond that, empty ones are removed.
    if (count === 0 && this.#depthByPriority.size > 16) this.#depthByPriority.delete(priority);
    else this.#depthByPriority.set(priority, count);
  }

  *#startTimes(): Iterable<number> {
    for (const entry of this.#running) yield entry.runningSince ?? 0;
  }
}
