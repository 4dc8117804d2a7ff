import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';

/** StartGate decides when the gateway may start: the startup probe of the agent passes once, and stays passed. */
export class StartGate {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onOpen: () => void;
  #reason = 'the files of the gateway are not placed yet';
  #openedAt: number | undefined;

  /** `onOpen` is called once, when the gateway may start. */
  constructor(clock: Clock, log: Log, onOpen: () => void) {
    this.#clock = clock;
    this.#log = log;
    this.#onOpen = onOpen;
  }

  /** isOpen is whether the gateway may start. */
  get isOpen(): boolean {
    return this.#openedAt !== undefined;
  }

  /** reason is why the gateway has to wait. */
  get reason(): string {
    return this.#reason;
  }

  /** openedMs is how long the gate has been open. */
  get openedMs(): number {
    return this.#openedAt === undefined ? 0 : this.#clock.monotonic() - this.#openedAt;
  }

  /** wait sets why the gateway has to wait, for the probe. */
  wait(reason: string): void {
    this.#reason = reason;
  }

  /** open lets the gateway start. */
  open(because: string): void {
    if (this.isOpen) return;
    this.#openedAt = this.#clock.monotonic();
    this.#log.info('the gateway may start', { because });
    this.#onOpen();
  }
}
