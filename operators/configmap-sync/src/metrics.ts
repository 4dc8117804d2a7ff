import { keyString, type ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Counter, Gauge, Histogram, Metrics } from '@bowline/runtime';
import type { Labels, MetricOptions } from '@bowline/runtime/manager';
import type { DestinationStatus } from './api/config-map-sync.ts';

/** SyncRecord holds the results of a run of a ConfigMapSync. */
export interface SyncRecord {
  readonly counts: Readonly<Record<DestinationStatus['status'], number>>;
  readonly isSourceMissing: boolean;
  /** The number of repaired copies. */
  readonly repaired: number;
  readonly isDone: boolean;
}

const RESULTS = ['success', 'incomplete', 'failed'] as const;
const STATES = ['Synced', 'Pending', 'Conflict', 'Failed'] as const;

/** SyncMetricsOptions configures the metrics. */
export interface SyncMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Whether to label every series with namespace and name of the ConfigMapSync. */
  readonly perObject: boolean;
  /** Stops the collection of the aggregated metrics. */
  readonly signal: AbortSignal;
}

/**
 * SyncMetrics holds the operator's own metrics. State metrics are summed over all ConfigMapSyncs, unless each has its
 * own series; those are removed with it.
 */
export class SyncMetrics {
  readonly #clock: Clock;
  readonly #perObject: boolean;
  /** One entry per ConfigMapSync, from its first run until its cleanup. */
  readonly #known = new Map<string, SyncRecord>();
  readonly #syncs: Counter;
  readonly #duration: Histogram;
  readonly #destinations: Gauge;
  readonly #repairs: Counter;
  readonly #sourceMissing: Gauge;
  readonly #lastSuccess: Gauge;

  constructor({ metrics, clock, perObject, signal }: SyncMetricsOptions) {
    this.#clock = clock;
    this.#perObject = perObject;
    const described = (name: string, help: string, labels: readonly string[] = []): MetricOptions => ({
      name: `configmapsync_${name}`,
      help,
      labels: [...(perObject ? ['namespace', 'name'] : []), ...labels],
    });
    this.#syncs = metrics.counter(described('syncs_total', 'Syncs by result.', ['result']));
    this.#duration = metrics.histogram(described('sync_duration_seconds', 'The duration of syncs.'));
    this.#destinations = metrics.gauge(described('destinations', 'Copies by state.', ['state']));
    this.#repairs = metrics.counter(
      described('drift_corrections_total', 'Copies that were restored after another client changed them.'),
    );
    this.#sourceMissing = metrics.gauge(described('source_missing', 'ConfigMapSyncs whose source does not exist.'));
    this.#lastSuccess = metrics.gauge(
      described('last_success_timestamp_seconds', 'The last time when all copies were in sync.'),
    );
    if (perObject) return;
    const collecting = metrics.collect(() => this.#setTotals());
    signal.addEventListener('abort', () => collecting[Symbol.dispose](), { once: true });
  }

  /** measure counts and times a run. */
  async measure<T>(key: ObjectKey, run: () => Promise<T>): Promise<T> {
    const labels = this.#labelsOf(key);
    const startedAt = this.#clock.monotonic();
    const before = this.#known.get(keyString(key));
    let result: (typeof RESULTS)[number] = 'failed';
    try {
      const value = await run();
      const record = this.#known.get(keyString(key));
      result = record !== before && record?.isDone ? 'success' : 'incomplete';
      return value;
    } finally {
      this.#syncs.add({ ...labels, result });
      this.#duration.observe((this.#clock.monotonic() - startedAt) / 1000, labels);
    }
  }

  /** record records the results of a run. */
  record(key: ObjectKey, record: SyncRecord): void {
    const labels = this.#labelsOf(key);
    this.#known.set(keyString(key), record);
    this.#repairs.add(labels, record.repaired);
    if (record.isDone) this.#lastSuccess.set(Math.floor(this.#clock.now() / 1000), labels);
    if (this.#perObject) this.#setGauges(labels, record.counts, record.isSourceMissing ? 1 : 0);
  }

  /** forget removes everything about a ConfigMapSync. */
  forget(key: ObjectKey): void {
    this.#known.delete(keyString(key));
    if (!this.#perObject) return;
    const labels = this.#labelsOf(key);
    for (const metric of [this.#duration, this.#repairs, this.#sourceMissing, this.#lastSuccess])
      metric.remove?.(labels);
    for (const result of RESULTS) this.#syncs.remove?.({ ...labels, result });
    for (const state of STATES) this.#destinations.remove({ ...labels, state: state.toLowerCase() });
  }

  #setTotals(): void {
    const counts = { Synced: 0, Pending: 0, Conflict: 0, Failed: 0 };
    let missing = 0;
    for (const record of this.#known.values()) {
      for (const state of STATES) counts[state] += record.counts[state];
      if (record.isSourceMissing) missing++;
    }
    this.#setGauges({}, counts, missing);
  }

  #setGauges(labels: Labels, counts: SyncRecord['counts'], missing: number): void {
    for (const state of STATES) this.#destinations.set(counts[state], { ...labels, state: state.toLowerCase() });
    this.#sourceMissing.set(missing, labels);
  }

  #labelsOf({ namespace = '', name }: ObjectKey): Labels {
    return this.#perObject ? { namespace, name } : {};
  }
}
