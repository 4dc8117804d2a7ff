import type { Clock } from '@bowline/machinery';

/** The minimum time between two changes of a pod template. */
const MIN_INTERVAL_MS = 500;

/**
 * RolloutPace delays changes of a workload that was changed a moment ago, so that many edits in a row restart its pods only
 * a few times. It is lost with the process: a restart costs at most one more rollout.
 */
export class RolloutPace {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #changedAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** waitMs returns how long a workload must not be changed. */
  waitMs(workload: string): number {
    const changedAt = this.#changedAt.get(workload);
    return changedAt === undefined ? 0 : Math.max(0, changedAt + MIN_INTERVAL_MS - this.#clock.monotonic());
  }

  /** changed records that a workload was changed now. */
  changed(workload: string): void {
    this.#changedAt.set(workload, this.#clock.monotonic());
  }
}
