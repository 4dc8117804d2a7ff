import type { Clock } from '@bowline/machinery';
import { BoundedMap } from '@bowline/machinery';

const FIRST_DELAY_MS = 20_000;
const MAX_DELAY_MS = 300_000;
const MAX_AGENTS = 10_000;

interface Rejection {
  readonly count: number;
  readonly retryAt: number;
}

/**
 * Rejections remembers agents whose pods kubelet rejected, so that they are created again ever more slowly. Keys are
 * those of Deployments.
 */
export class Rejections {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byAgent = new BoundedMap<string, Rejection>({ maxEntries: MAX_AGENTS });

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** record counts a rejection. The agent may be created again after a delay. */
  record(agent: string): void {
    const count = (this.#byAgent.get(agent)?.count ?? 0) + 1;
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (count - 1), MAX_DELAY_MS);
    this.#byAgent.set(agent, { count, retryAt: this.#clock.now() + delayMs });
  }

  /** waitMs returns how long an agent must not be created yet; 0 if it may be. */
  waitMs(agent: string): number {
    return Math.max(0, (this.#byAgent.get(agent)?.retryAt ?? 0) - this.#clock.now());
  }

  /** clear forgets the rejections of an agent that runs. */
  clear(agent: string): void {
    this.#byAgent.delete(agent);
  }
}
