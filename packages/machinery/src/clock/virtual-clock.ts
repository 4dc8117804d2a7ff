import { type Clock, sleepOn, type Timer } from './clock.ts';

/** VirtualClockOptions configures where a virtual clock starts. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. Defaults to 2026-01-01T00:00:00Z. */
  startMs?: number;
}

interface Pending {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * VirtualClock is a clock that moves only when a test advances it. `advance` runs the due timers in order, and lets
 * promise callbacks and pending I/O callbacks run between them, so code that sleeps in a loop behaves as it would in
 * real time.
 */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  #elapsed = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(options: VirtualClockOptions = {}) {
    this.#startMs = options.startMs ?? Date.UTC(2026, 0, 1);
  }

  now(): number {
    return this.#startMs + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    // Not Math.max: it returns NaN for NaN, which would break every later comparison.
    const entry: Pending = { due: this.#elapsed + (delayMs > 0 ? delayMs : 0), order: this.#order++, callback };
    this.#pending.add(entry);
    const cancel = (): void => {
      this.#pending.delete(entry);
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** pendingTimers is the number of pending timers; zero after a clean stop. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** nextDueInMs is the time until the next timer, or undefined if there is none. */
  get nextDueInMs(): number | undefined {
    const next = this.#next(Number.POSITIVE_INFINITY);
    return next && next.due - this.#elapsed;
  }

  /** advance moves time forward by `ms` and waits until the resulting callbacks have run. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`cannot advance the clock by ${ms} ms`);
    const target = this.#elapsed + ms;
    await settle();
    for (let next = this.#next(target); next; next = this.#next(target)) {
      this.#pending.delete(next);
      this.#elapsed = Math.max(this.#elapsed, next.due);
      next.callback();
      await settle();
    }
    this.#elapsed = target;
    await settle();
  }

  #next(until: number): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.due > until) continue;
      if (!best || entry.due < best.due || (entry.due === best.due && entry.order < best.order)) best = entry;
    }
    return best;
  }
}

/**
 * settle lets every ready promise callback run. It takes two turns, because a stream delivers its data in the next
 * turn.
 */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
