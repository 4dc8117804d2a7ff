import type { Clock, Timer } from '@bowline/machinery';
import type { InformerHealth } from '../cache/health.ts';
import type { HealthCheck } from '../operations/health.ts';

/** WatchLivenessOptions configures the check. */
export interface WatchLivenessOptions {
  readonly wire: Clock;
  readonly health: () => Iterable<InformerHealth>;
  /** How long a watch may be inactive. */
  readonly deadAfterMs: number;
}

/** The sampling interval. A watch that was active and failed in between counts as dead earlier by at most this time. */
const SAMPLE_MS = 15_000;

/**
 * WatchLiveness finds dead watches: watches that were synced once, and since then have had no event, bookmark or
 * acknowledged PING for longer than any retry explains. A quiet stream acknowledges PINGs. A kind that the server no
 * longer serves, or does not allow to read, is not dead but reported elsewhere: a restart would not help.
 */
export class WatchLiveness implements Disposable {
  readonly #options: WatchLivenessOptions;
  readonly #lastAlive = new Map<string, number>();
  #timer: Timer;

  constructor(options: WatchLivenessOptions) {
    this.#options = options;
    const again = (): void => {
      this.#sample();
      this.#timer = options.wire.setTimer(SAMPLE_MS, again);
    };
    this.#timer = options.wire.setTimer(SAMPLE_MS, again);
  }

  /** check returns the result for all watches at this moment. */
  check(): HealthCheck {
    const now = this.#options.wire.monotonic();
    this.#sample();
    const dead: string[] = [];
    for (const [watch, aliveAt] of this.#lastAlive) {
      if (now - aliveAt > this.#options.deadAfterMs) dead.push(`${watch} for ${Math.round((now - aliveAt) / 1000)} s`);
    }
    if (dead.length === 0) return { name: 'watches', ok: true };
    return { name: 'watches', ok: false, message: `no activity of ${dead.join(', ')}` };
  }

  #sample(): void {
    const now = this.#options.wire.monotonic();
    const aliveAt = new Map<string, number>();
    for (const health of this.#options.health()) {
      if (!health.synced) continue;
      const watch = describeInformer(health);
      const seen = this.#aliveAt(health, now) ?? this.#lastAlive.get(watch) ?? now;
      // Two views of one kind and scope look alike here: use the one that has been inactive for longer.
      aliveAt.set(watch, Math.min(seen, aliveAt.get(watch) ?? seen));
    }
    this.#lastAlive.clear();
    for (const [watch, at] of aliveAt) this.#lastAlive.set(watch, at);
  }

  /** Undefined if nothing is active now. */
  #aliveAt(health: InformerHealth, now: number): number | undefined {
    switch (health.state) {
      case 'watching':
      case 'syncing':
        return health.aliveAgeMs === undefined ? undefined : now - health.aliveAgeMs;
      case 'forbidden':
      case 'not-served':
      case 'idle':
        return now;
      case 'backing-off':
      case 'stopped':
        return undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }
}

/** describeInformer returns a display name of an informer: its kind and scope. */
export function describeInformer(health: InformerHealth): string {
  const group = health.group === '' ? '' : `.${health.group}`;
  const scope = [health.namespaces?.join('+'), health.labelSelector, health.fieldSelector].filter(Boolean).join(' ');
  return `${health.kind}${group}${scope === '' ? '' : ` (${scope})`}`;
}
