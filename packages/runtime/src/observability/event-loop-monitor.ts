import { constants, PerformanceObserver } from 'node:perf_hooks';
import { type Clock, systemClock, type Timer } from '@bowline/machinery';
import { type Histogram, type Metrics, noMetrics } from './metrics.ts';

/** EventLoopMonitorOptions configures a monitor. */
export interface EventLoopMonitorOptions {
  /** The clock for ticks. Defaults to the system clock. */
  readonly wire?: Clock;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics;
  /** The interval of ticks; a shorter delay may go undetected. Defaults to 100. */
  readonly intervalMs?: number;
  /** The minimum time a delay is remembered; the maximum is twice as long. Defaults to 30000. */
  readonly windowMs?: number;
}

interface Window {
  readonly startedAt: number;
  longestMs: number;
  lateMs: number;
}

/**
 * The maximum fraction of a window that one delay counts for: a process that was stopped once and continues is not
 * starved.
 */
const MAX_FRACTION_OF_ONE_DELAY = 0.25;

/**
 * EventLoopMonitor measures how late the event loop runs its timers because of synchronous work, garbage collection, or
 * a stopped or starved process. It uses its own timer, because a native histogram cannot report a delay that is still
 * in progress. It costs one timer and about a microsecond per tick.
 */
export class EventLoopMonitor implements Disposable {
  readonly #wire: Clock;
  readonly #intervalMs: number;
  readonly #windowMs: number;
  readonly #delays: Histogram;
  readonly #collecting: Disposable;
  readonly #collections: Disposable;
  #previous: Window;
  #current: Window;
  #due: number;
  #timer: Timer;
  #stopped = false;

  constructor(options: EventLoopMonitorOptions = {}) {
    this.#wire = options.wire ?? systemClock;
    this.#intervalMs = options.intervalMs ?? 100;
    this.#windowMs = options.windowMs ?? 30_000;
    const metrics = options.metrics ?? noMetrics;
    this.#delays = metrics.histogram({
      name: 'bowline_event_loop_delay_seconds',
      help: 'How late the event loop ran a timer.',
      buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    });
    const lag = metrics.gauge({
      name: 'nodejs_eventloop_lag_seconds',
      help: 'How overdue the event loop is at the time of reading.',
    });
    const longest = metrics.gauge({
      name: 'nodejs_eventloop_lag_max_seconds',
      help: 'The longest delay of the event loop in the last half to full minute.',
    });
    this.#collecting = metrics.collect(() => {
      lag.set(this.stalledForMs() / 1000);
      longest.set(this.lagMs() / 1000);
    });
    this.#collections = options.metrics ? observeCollections(options.metrics) : { [Symbol.dispose]() {} };
    const now = this.#wire.monotonic();
    this.#previous = { startedAt: now, longestMs: 0, lateMs: 0 };
    this.#current = { startedAt: now, longestMs: 0, lateMs: 0 };
    this.#due = now + this.#intervalMs;
    this.#timer = this.#wire.setTimer(this.#intervalMs, () => this.#tick());
  }

  /** lagMs returns the longest delay within the window, including the current one. */
  lagMs(): number {
    this.#rotate(this.#wire.monotonic());
    return Math.max(this.#previous.longestMs, this.#current.longestMs, this.stalledForMs());
  }

  /** stalledForMs returns how overdue the loop is right now: zero unless called from work that itself blocks it. */
  stalledForMs(): number {
    return this.#stopped ? 0 : Math.max(0, this.#wire.monotonic() - this.#due);
  }

  /**
   * starvedFraction returns the fraction of the window, from 0 to 1, in which the loop was late. Liveness should fail
   * when it stays high; a single long delay does not exceed a quarter.
   */
  starvedFraction(): number {
    const now = this.#wire.monotonic();
    this.#rotate(now);
    const late = this.#previous.lateMs + this.#current.lateMs + this.#capped(this.stalledForMs());
    return Math.min(1, late / Math.max(this.#windowMs, now - this.#previous.startedAt));
  }

  /** Stops measuring. */
  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#timer.cancel();
    this.#collecting[Symbol.dispose]();
    this.#collections[Symbol.dispose]();
  }

  #tick(): void {
    const now = this.#wire.monotonic();
    const late = Math.max(0, now - this.#due);
    this.#rotate(now);
    this.#current.longestMs = Math.max(this.#current.longestMs, late);
    this.#current.lateMs += this.#capped(late);
    this.#delays.observe(late / 1000);
    this.#due = now + this.#intervalMs;
    this.#timer = this.#wire.setTimer(this.#intervalMs, () => this.#tick());
  }

  #capped(delayMs: number): number {
    return Math.min(delayMs, this.#windowMs * MAX_FRACTION_OF_ONE_DELAY);
  }

  #rotate(now: number): void {
    const age = now - this.#current.startedAt;
    if (age < this.#windowMs) return;
    const empty = { startedAt: now, longestMs: 0, lateMs: 0 };
    this.#previous = age < 2 * this.#windowMs ? this.#current : empty;
    this.#current = { ...empty };
  }
}

const COLLECTION_KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** Node reports each collection after the fact; nothing runs in between. */
function observeCollections(metrics: Metrics): Disposable {
  const durations = metrics.histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections by kind.',
    labels: ['kind'],
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as { detail?: { kind?: number } };
      durations.observe(entry.duration / 1000, { kind: COLLECTION_KINDS.get(detail?.kind) ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return {
    [Symbol.dispose]() {
      observer.disconnect();
    },
  };
}
