import { setTimeout as pause } from 'node:timers/promises';
import type { VirtualClock } from '@bowline/machinery';

/** How long a wait takes before time passes, and how much time passes at once. */
const GRACE_MS = 1_000;
const STEP_MS = 250;

/**
 * PassingTime lets a clock run during long waits, as fast as real time. A virtual clock stands still otherwise: a run
 * that failed, because the API server was too busy or was restarted, would never be repeated.
 */
export class PassingTime {
  readonly #clock: VirtualClock;
  readonly #waits = new Set<symbol>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** during waits for the end of some work. */
  async during<T>(work: Promise<T>): Promise<T> {
    const wait = Symbol('wait');
    this.#waits.add(wait);
    const done = new AbortController();
    const passing = this.#pass(wait, done.signal);
    try {
      return await work;
    } finally {
      this.#waits.delete(wait);
      done.abort();
      await passing;
    }
  }

  /** Of several waits at the same time, the first one lets time pass. */
  async #pass(wait: symbol, signal: AbortSignal): Promise<void> {
    const sleep = (ms: number): Promise<unknown> => pause(ms, undefined, { signal }).catch(() => undefined);
    await sleep(GRACE_MS);
    while (!signal.aborted) {
      if (this.#waits.values().next().value === wait) await this.#clock.advance(STEP_MS);
      await sleep(STEP_MS);
    }
  }
}
