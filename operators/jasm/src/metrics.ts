import { parseKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Counter, Gauge, Histogram, Metrics } from '@bowline/runtime';
import type { SourceMetrics } from './sources/source-reads.ts';

/** JasmMetricsOptions configures the metrics. */
export interface JasmMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** The providers that pods may name. */
  readonly providers: readonly string[];
  /** Whether to report the last successful sync of every Secret, and not only of all together. */
  readonly perObject: boolean;
  /** Stops the collection of the aggregated metrics. */
  readonly signal: AbortSignal;
}

const RESULTS = ['success', 'error'] as const;

/** Stores answer within milliseconds, or are retried for minutes. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];

/** JasmMetrics holds the operator's own metrics. */
export class JasmMetrics implements SourceMetrics {
  readonly #clock: Clock;
  readonly #perObject: boolean;
  /** The existing Secrets of ours. */
  readonly #managed = new Set<string>();
  readonly #syncs: Counter;
  readonly #duration: Histogram;
  readonly #calls: Counter;
  readonly #latency: Histogram;
  readonly #coalesced: Counter;
  readonly #lastSuccess: Gauge;

  constructor({ metrics, clock, providers, perObject, signal }: JasmMetricsOptions) {
    this.#clock = clock;
    this.#perObject = perObject;
    this.#syncs = metrics.counter({
      name: 'jasm_sync_total',
      help: 'Number of syncs of a Secret, by result.',
      labels: ['provider', 'result'],
    });
    this.#duration = metrics.histogram({
      name: 'jasm_sync_duration_seconds',
      help: 'Duration of syncs: reading a source and writing its Secret.',
      labels: ['provider'],
      buckets: SECONDS,
    });
    this.#calls = metrics.counter({
      name: 'jasm_provider_api_calls_total',
      help: 'Number of calls to secret stores.',
      labels: ['provider', 'operation', 'code'],
    });
    this.#latency = metrics.histogram({
      name: 'jasm_provider_latency_seconds',
      help: 'Duration of calls to secret stores.',
      labels: ['provider', 'operation'],
      buckets: SECONDS,
    });
    this.#coalesced = metrics.counter({
      name: 'jasm_coalesced_fetches_total',
      help: 'Number of reads that were served by a call for another Secret.',
      labels: ['provider'],
    });
    this.#lastSuccess = metrics.gauge({
      name: 'jasm_last_success_timestamp_seconds',
      help: 'The last time at which a Secret was in sync with its source, in seconds since the epoch.',
      labels: perObject ? ['namespace', 'secret'] : [],
    });
    const managed = metrics.gauge({ name: 'jasm_managed_secrets', help: 'Number of managed Secrets.' });
    for (const provider of providers) {
      this.#coalesced.add({ provider }, 0);
      this.#duration.zero?.({ provider });
      for (const result of RESULTS) this.#syncs.add({ provider, result }, 0);
    }
    const collecting = metrics.collect(() => managed.set(this.#managed.size));
    signal.addEventListener('abort', () => collecting[Symbol.dispose](), { once: true });
  }

  /** measure counts and times the sync of a Secret. */
  async measure<T>(provider: string, run: () => Promise<T>): Promise<T> {
    const startedAt = this.#clock.monotonic();
    let result: (typeof RESULTS)[number] = 'error';
    try {
      const outcome = await run();
      result = 'success';
      return outcome;
    } finally {
      this.#syncs.add({ provider, result });
      this.#duration.observe((this.#clock.monotonic() - startedAt) / 1000, { provider });
    }
  }

  /** succeeded records that a Secret, `namespace/name`, is in sync with its source. */
  succeeded(key: string): void {
    this.#lastSuccess.set(Math.floor(this.#clock.now() / 1000), this.#labelsOf(key));
  }

  /** setManaged records whether a Secret of ours exists. */
  setManaged(key: string, isManaged: boolean): void {
    if (isManaged) this.#managed.add(key);
    else if (this.#managed.has(key)) this.forget(key);
  }

  /** forget removes the metrics of a Secret that is gone, or that keys are no longer merged into. */
  forget(key: string): void {
    this.#managed.delete(key);
    if (this.#perObject) this.#lastSuccess.remove(this.#labelsOf(key));
  }

  observeCall({ provider, operation, code, ms }: Parameters<SourceMetrics['observeCall']>[0]): void {
    this.#calls.add({ provider, operation, code });
    this.#latency.observe(ms / 1000, { provider, operation });
  }

  countCoalesced(provider: string): void {
    this.#coalesced.add({ provider });
  }

  #labelsOf(key: string): Readonly<Record<string, string>> {
    if (!this.#perObject) return {};
    const { namespace = '', name: secret } = parseKey(key);
    return { namespace, secret };
  }
}
