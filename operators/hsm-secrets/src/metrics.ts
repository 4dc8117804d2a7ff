import { parseKey } from '@bowline/kubernetes';
import { type Clock, parseTime } from '@bowline/machinery';
import type { Counter, Gauge, Metrics } from '@bowline/runtime';

/** HsmMetricsOptions configures the metrics. */
export interface HsmMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'now'>;
  /** When the oldest report that still counts was confirmed; undefined without reports. */
  readonly oldestReportAt: () => number | undefined;
  /** Whether to report the devices of every pool. */
  readonly perObject: boolean;
  /** Stops the collection. */
  readonly signal: AbortSignal;
}

/** DEVICE_STATES are the values of the label `state` of devices. */
export const DEVICE_STATES = ['available', 'unavailable', 'claimed', 'over_limit'] as const;

/** DeviceState is the state of a device in a pool. */
export type DeviceState = (typeof DEVICE_STATES)[number];

/** PoolSummary is what the metrics show of a pool. */
export interface PoolSummary {
  readonly devices: Readonly<Record<DeviceState, number>>;
  readonly freshPods: number;
  readonly stalePods: number;
}

const SYNC_RESULTS = ['synced', 'unchanged', 'failed'] as const;

/** SyncResult is the result of a run for an HSMSecret: its Secret was written, was as on the device, or failed. */
export type SyncResult = (typeof SYNC_RESULTS)[number];

/** The reasons for which a PIN cannot be used. */
const PIN_FAILURES = ['PINIncorrect', 'PINUncertain', 'PINFinalTry', 'PINLocked'] as const;

interface AgentCounts {
  readonly ready: number;
  readonly all: number;
  readonly deferred: number;
  readonly pinFailures: ReadonlyMap<string, number>;
}

/** MirrorCounts are the counts of a comparison of devices. */
export interface MirrorCounts {
  readonly conflicts: number;
  readonly synced: number;
  readonly errorCount: number;
}

/** HsmMetrics holds the operator's own metrics. */
export class HsmMetrics {
  readonly #pools = new Map<string, PoolSummary>();
  readonly #agents = new Map<string, AgentCounts>();
  readonly #pinFailures: Counter;
  readonly #deferrals: Counter;
  readonly #divergences: Counter;
  readonly #mirrorWrites: Counter;
  readonly #reports: Counter;
  readonly #perPool: Gauge | undefined;
  readonly #syncs: Counter;
  readonly #lastSync: Gauge | undefined;

  constructor({ metrics, clock, oldestReportAt, perObject, signal }: HsmMetricsOptions) {
    this.#reports = metrics.counter({
      name: 'hsm_reports_total',
      help: 'Number of changes of reports that the manager observed, by result.',
      labels: ['result'],
    });
    for (const result of ['valid', 'invalid']) this.#reports.add({ result }, 0);
    this.#syncs = metrics.counter({
      name: 'hsm_secret_sync_total',
      help: 'Number of syncs of HSMSecrets, by result.',
      labels: ['result'],
    });
    for (const result of SYNC_RESULTS) this.#syncs.add({ result }, 0);
    if (perObject)
      this.#lastSync = metrics.gauge({
        name: 'hsm_secret_last_sync_timestamp_seconds',
        help: 'When the content of the Secret of an HSMSecret last changed, in seconds since the epoch.',
        labels: ['namespace', 'name'],
      });
    const devices = metrics.gauge({
      name: 'hsm_devices',
      help: 'Number of devices in all pools, by state.',
      labels: ['state'],
    });
    const pods = metrics.gauge({
      name: 'hsm_reporting_pods',
      help: 'Number of pods that have reported, by whether they reported within the grace period.',
      labels: ['fresh'],
    });
    const age = metrics.gauge({
      name: 'hsm_oldest_report_age_seconds',
      help: 'Time since the manager last observed a change of the report that has not changed for the longest time.',
    });
    const agents = metrics.gauge({
      name: 'hsm_agents',
      help: 'Number of agents that should exist, by whether they are ready.',
      labels: ['ready'],
    });
    this.#deferrals = metrics.counter({
      name: 'hsm_agents_deferred_total',
      help: 'Number of times that the creation of an agent was deferred.',
    });
    this.#deferrals.add({}, 0);
    this.#pinFailures = metrics.counter({
      name: 'hsm_pin_failures_total',
      help: 'Number of times that the PIN of a token could not be used, by reason.',
      labels: ['reason'],
    });
    for (const reason of PIN_FAILURES) this.#pinFailures.add({ reason }, 0);
    this.#divergences = metrics.counter({
      name: 'hsm_mirror_divergence_total',
      help: 'Number of paths that were found with different content on the devices of a pool.',
    });
    this.#divergences.add({}, 0);
    this.#mirrorWrites = metrics.counter({
      name: 'hsm_mirror_writes_total',
      help: 'Number of copies between devices, by result.',
      labels: ['result'],
    });
    for (const result of ['success', 'error']) this.#mirrorWrites.add({ result }, 0);
    if (perObject)
      this.#perPool = metrics.gauge({
        name: 'hsm_pool_devices',
        help: 'Number of devices of a pool, by state.',
        labels: ['namespace', 'pool', 'state'],
      });
    const collecting = metrics.collect(() => {
      const pools = [...this.#pools.values()];
      const total = (count: (pool: PoolSummary) => number): number => pools.reduce((sum, pool) => sum + count(pool), 0);
      for (const state of DEVICE_STATES)
        devices.set(
          total((pool) => pool.devices[state]),
          { state },
        );
      pods.set(
        total((pool) => pool.freshPods),
        { fresh: 'true' },
      );
      pods.set(
        total((pool) => pool.stalePods),
        { fresh: 'false' },
      );
      const ready = [...this.#agents.values()].reduce((sum, each) => sum + each.ready, 0);
      agents.set(ready, { ready: 'true' });
      agents.set([...this.#agents.values()].reduce((sum, each) => sum + each.all, 0) - ready, { ready: 'false' });
      age.set(Math.max(0, clock.now() - (oldestReportAt() ?? clock.now())) / 1000);
    });
    signal.addEventListener('abort', () => collecting[Symbol.dispose](), { once: true });
  }

  /** reported counts a change of a report. */
  reported(isValid: boolean): void {
    this.#reports.add({ result: isValid ? 'valid' : 'invalid' });
  }

  /** recordPool records the content of a pool, `namespace/name`. */
  recordPool(key: string, summary: PoolSummary): void {
    this.#pools.set(key, summary);
    const { namespace = '', name: pool } = parseKey(key);
    for (const state of DEVICE_STATES) this.#perPool?.set(summary.devices[state], { namespace, pool, state });
  }

  /** recordAgents records which agents of a pool are ready. */
  recordAgents(
    key: string,
    agents: readonly { readonly ready: boolean; readonly reason?: string | undefined }[],
  ): void {
    const before = this.#agents.get(key);
    const deferred = agents.filter(({ reason }) => reason === 'AgentDeferred').length;
    if (deferred > (before?.deferred ?? 0)) this.#deferrals.add({}, deferred - (before?.deferred ?? 0));
    const pinFailures = new Map<string, number>();
    for (const reason of PIN_FAILURES) {
      const count = agents.filter((agent) => agent.reason === reason).length;
      pinFailures.set(reason, count);
      const more = count - (before?.pinFailures.get(reason) ?? 0);
      if (more > 0) this.#pinFailures.add({ reason }, more);
    }
    const ready = agents.filter((agent) => agent.ready).length;
    this.#agents.set(key, { ready, all: agents.length, deferred, pinFailures });
  }

  /** mirrored counts what a comparison of devices found and wrote. */
  mirrored({ conflicts, synced, errorCount }: MirrorCounts): void {
    if (conflicts > 0) this.#divergences.add({}, conflicts);
    if (synced > 0) this.#mirrorWrites.add({ result: 'success' }, synced);
    if (errorCount > 0) this.#mirrorWrites.add({ result: 'error' }, errorCount);
  }

  /** forgetPool removes a pool that no longer exists. */
  forgetPool(key: string): void {
    this.#agents.delete(key);
    if (!this.#pools.delete(key)) return;
    const { namespace = '', name: pool } = parseKey(key);
    for (const state of DEVICE_STATES) this.#perPool?.remove({ namespace, pool, state });
  }

  /** secretSynced counts a run for an HSMSecret. */
  secretSynced(result: SyncResult): void {
    this.#syncs.add({ result });
  }

  /** recordSecret records when the Secret of an HSMSecret, `namespace/name`, last changed, RFC 3339. */
  recordSecret(key: string, lastSyncTime: string | undefined): void {
    if (lastSyncTime === undefined) return;
    const { namespace = '', name } = parseKey(key);
    this.#lastSync?.set(parseTime(lastSyncTime) / 1_000, { namespace, name });
  }

  /** forgetSecret removes an HSMSecret that no longer exists. */
  forgetSecret(key: string): void {
    const { namespace = '', name } = parseKey(key);
    this.#lastSync?.remove({ namespace, name });
  }
}
