import { type Timer, VirtualClock } from '@bowline/machinery';

/** The interval at which a manager measures how late its event loop is. */
const LOOP_SAMPLE_MS = 100;

/**
 * WorldClock is a virtual clock of whole milliseconds, like that of the system, which knows the next timer after which
 * there may be work to wait for.
 */
export class WorldClock extends VirtualClock {
  readonly #due = new Set<{ readonly at: number }>();

  override setTimer(delayMs: number, callback: () => void): Timer {
    if (delayMs === LOOP_SAMPLE_MS) return super.setTimer(delayMs, callback);
    const wholeMs = Math.ceil(Math.max(0, delayMs));
    const entry = { at: this.monotonic() + wholeMs };
    this.#due.add(entry);
    const timer = super.setTimer(wholeMs, () => {
      this.#due.delete(entry);
      callback();
    });
    const cancel = (): void => {
      this.#due.delete(entry);
      timer.cancel();
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  /** nextWorkInMs is the time until the next timer, except measurements of the event loop; undefined without one. */
  get nextWorkInMs(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#due) if (next === undefined || at < next) next = at;
    return next === undefined ? undefined : Math.max(0, next - this.monotonic());
  }
}
