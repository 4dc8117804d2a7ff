import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { AgentMetrics } from './agent-metrics.ts';
import type { AgentEvents } from './cluster/agent-events.ts';
import type { StatusReporter } from './cluster/status-reporter.ts';
import type { GatewaySync } from './sync/gateway-sync.ts';

/** DriftCheckOptions configures what is compared, and where it is reported. */
export interface DriftCheckOptions {
  readonly gatewayName: string;
  readonly sync: Pick<GatewaySync, 'drift'>;
  readonly reporter: StatusReporter;
  readonly events: AgentEvents;
  readonly metrics: AgentMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The interval at which managed files are compared with what was placed. */
const DRIFT_INTERVAL_MS = 5 * 60_000;
const MAX_PATHS = 5;
const MAX_PATH_LENGTH = 255;

/** DriftCheck finds managed files that were changed on the gateway, and reports them when they begin and cease to differ. */
export class DriftCheck {
  readonly #options: DriftCheckOptions;
  #dueAt: number;
  #isDrifted = false;

  constructor(options: DriftCheckOptions) {
    this.#options = options;
    this.#dueAt = options.clock.monotonic() + DRIFT_INTERVAL_MS;
  }

  /** dueInMs is the time until the next comparison. */
  get dueInMs(): number {
    return Math.max(0, this.#dueAt - this.#options.clock.monotonic());
  }

  /** check compares the files, if it is due. It returns whether some differ. */
  async check(signal: AbortSignal): Promise<boolean> {
    if (this.dueInMs > 0) return false;
    const { sync, reporter, events, metrics, gatewayName, clock, log } = this.#options;
    this.#dueAt = clock.monotonic() + DRIFT_INTERVAL_MS;
    try {
      const paths = await sync.drift(signal);
      metrics.driftedFiles.set(paths.length);
      if (paths.length === 0) {
        this.ended();
        return false;
      }
      const named = paths.slice(0, MAX_PATHS).map((path) => path.slice(-MAX_PATH_LENGTH));
      reporter.update({ drifted: { count: paths.length, paths: named } });
      if (!this.#isDrifted) {
        const note = `gateway ${gatewayName}: managed files were changed on the gateway, for example ${named[0]}`;
        events.record('GatewayFilesModified', note);
      }
      this.#isDrifted = true;
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn('cannot compare the files of the gateway', { error });
      return false;
    }
  }

  /** ended is called when the files are what was placed. */
  ended(): void {
    const { reporter, metrics } = this.#options;
    this.#isDrifted = false;
    metrics.driftedFiles.set(0);
    if (reporter.report.drifted !== undefined) reporter.update({ drifted: undefined });
  }
}
