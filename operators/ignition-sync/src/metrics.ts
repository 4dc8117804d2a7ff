import { keyString, type ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Counter, Gauge, Histogram, Metrics } from '@bowline/runtime';
import type { Labels } from '@bowline/runtime/manager';
import type { DiscoveredGateway } from './api/ignition-sync.ts';
import type { OperationReport } from './git/source/operation.ts';
import { WAIT_REASONS, type WaitReason } from './rollout/rollout.ts';

/** SyncRecord holds the results of a run of an IgnitionSync. */
export interface SyncRecord {
  readonly isReady: boolean;
  readonly gateways: readonly Pick<DiscoveredGateway, 'syncStatus'>[];
  readonly waitingFor: ReadonlySet<WaitReason>;
  /** When the token of its GitHub App expires, in milliseconds since the epoch. */
  readonly tokenExpiresAtMs?: number | undefined;
}

/** IgnitionSyncMetricsOptions configures the metrics. */
export interface IgnitionSyncMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether gauges are labelled with namespace and name of the IgnitionSync. */
  readonly perObject: boolean;
  /** Stops the collection of metrics. */
  readonly signal: AbortSignal;
}

const OPERATIONS = ['resolve', 'fetch', 'verify', 'push', 'outstanding'] as const;
const GATEWAY_STATES = ['Pending', 'Syncing', 'Synced', 'Error', 'MissingSidecar'] as const;
/** INJECTION_RESULTS are the values of the label `result` of injections. */
export const INJECTION_RESULTS = ['injected', 'unchanged', 'not-injected', 'denied'] as const;
const PULL_REQUEST_RESULTS = ['created', 'updated', 'failed'] as const;
/** A git operation takes from milliseconds, on loopback, to its time limit. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * IgnitionSyncMetrics holds the operator's own metrics, except for those of the receiver. States are summed over all IgnitionSyncs, unless each has its own
 * series; those are removed with it.
 */
export class IgnitionSyncMetrics {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #perObject: boolean;
  /** One entry per IgnitionSync, from its first run until its cleanup. */
  readonly #known = new Map<string, { readonly labels: Labels; readonly record: SyncRecord }>();
  readonly #operations: Counter;
  readonly #duration: Histogram;
  readonly #received: Counter;
  readonly #shared: Counter;
  readonly #injections: Counter;
  readonly #pullRequests: Counter;
  readonly #gateways: Gauge;
  readonly #syncs: Gauge;
  readonly #waiting: Gauge;
  readonly #tokenExpiry: Gauge;
  readonly #lastSuccess: Gauge;
  #countPending = (): number => 0;

  constructor({ metrics, clock, perObject, signal }: IgnitionSyncMetricsOptions) {
    this.#clock = clock;
    this.#perObject = perObject;
    const counter = (name: string, help: string, labels: readonly string[] = []): Counter =>
      metrics.counter({ name: `ignition_sync_${name}`, help, labels });
    const gauge = (name: string, help: string, labels: readonly string[] = []): Gauge =>
      metrics.gauge({
        name: `ignition_sync_${name}`,
        help,
        labels: [...(perObject ? ['namespace', 'name'] : []), ...labels],
      });
    this.#operations = counter('git_operations_total', 'Git operations, by result.', ['operation', 'result']);
    this.#duration = metrics.histogram({
      name: 'ignition_sync_git_operation_duration_seconds',
      help: 'The duration of git operations.',
      labels: ['operation'],
      buckets: SECONDS,
    });
    this.#received = counter('git_received_bytes_total', 'Bytes that were received from Git servers.');
    this.#shared = counter(
      'git_shared_total',
      'Git operations that were not executed, because another IgnitionSync needed the same one.',
    );
    this.#injections = counter('injections_total', 'Pods that requested an agent, by result.', ['result']);
    this.#pullRequests = counter('pull_requests_total', 'Pull requests with changes of gateways, by result.', [
      'result',
    ]);
    this.#gateways = gauge('gateways', 'Gateways, by state.', ['status']);
    this.#syncs = gauge('syncs', 'IgnitionSyncs, by whether they are ready.', ['ready']);
    this.#waiting = gauge('rollouts_waiting', 'IgnitionSyncs whose gateways wait, by what they wait for.', ['for']);
    this.#tokenExpiry = gauge(
      'github_token_expiry_timestamp_seconds',
      'When the token of a GitHub App that expires first does so. 0: there are none.',
    );
    this.#lastSuccess = gauge('last_success_timestamp_seconds', 'The last time when an IgnitionSync was ready.');
    const pending = metrics.gauge({
      name: 'ignition_sync_git_pending',
      help: 'Repositories with git operations that run or wait.',
    });
    this.#createAtZero();
    const collecting = metrics.collect(() => {
      pending.set(this.#countPending());
      if (!perObject) this.#setTotals();
    });
    signal.addEventListener('abort', () => collecting[Symbol.dispose](), { once: true });
  }

  #createAtZero(): void {
    for (const operation of OPERATIONS) {
      this.#operations.add({ operation, result: 'ok' }, 0);
      this.#duration.zero?.({ operation });
    }
    this.#received.add({}, 0);
    this.#shared.add({}, 0);
    for (const result of INJECTION_RESULTS) this.#injections.add({ result }, 0);
    for (const result of PULL_REQUEST_RESULTS) this.#pullRequests.add({ result }, 0);
  }

  /** observeOperation counts and times a git operation. */
  observeOperation({ operation, result, durationMs, users }: OperationReport): void {
    this.#operations.add({ operation, result });
    this.#duration.observe(durationMs / 1_000, { operation });
    if (users > 1) this.#shared.add({}, users - 1);
  }

  /** observePending sets how repositories with git operations that run or wait are counted. */
  observePending(count: () => number): void {
    this.#countPending = count;
  }

  /** receivedBytes counts bytes of a Git server. */
  receivedBytes(count: number): void {
    this.#received.add({}, count);
  }

  /** injected counts a pod that requested an agent. */
  injected(result: (typeof INJECTION_RESULTS)[number]): void {
    this.#injections.add({ result });
  }

  /** pullRequest counts a pull request. */
  pullRequest(result: (typeof PULL_REQUEST_RESULTS)[number]): void {
    this.#pullRequests.add({ result });
  }

  /** record records the results of a run. */
  record(key: ObjectKey, record: SyncRecord): void {
    const labels = this.#labelsOf(key);
    this.#known.set(keyString(key), { labels, record });
    if (record.isReady) this.#lastSuccess.set(Math.floor(this.#clock.now() / 1_000), labels);
    if (this.#perObject) this.#setGauges(labels, [record]);
  }

  /** forget removes everything about an IgnitionSync. */
  forget(key: ObjectKey): void {
    this.#known.delete(keyString(key));
    if (!this.#perObject) return;
    const labels = this.#labelsOf(key);
    this.#lastSuccess.remove(labels);
    this.#tokenExpiry.remove(labels);
    for (const status of GATEWAY_STATES) this.#gateways.remove({ ...labels, status });
    for (const ready of ['true', 'false']) this.#syncs.remove({ ...labels, ready });
    for (const reason of WAIT_REASONS) this.#waiting.remove({ ...labels, for: reason });
  }

  #setTotals(): void {
    this.#setGauges(
      {},
      [...this.#known.values()].map(({ record }) => record),
    );
  }

  #setGauges(labels: Labels, records: readonly SyncRecord[]): void {
    for (const status of GATEWAY_STATES) {
      const count = records.reduce(
        (sum, { gateways }) => sum + gateways.filter((gateway) => gateway.syncStatus === status).length,
        0,
      );
      this.#gateways.set(count, { ...labels, status });
    }
    const ready = records.filter(({ isReady }) => isReady).length;
    this.#syncs.set(ready, { ...labels, ready: 'true' });
    this.#syncs.set(records.length - ready, { ...labels, ready: 'false' });
    for (const reason of WAIT_REASONS) {
      this.#waiting.set(records.filter(({ waitingFor }) => waitingFor.has(reason)).length, { ...labels, for: reason });
    }
    const expiries = records.flatMap(({ tokenExpiresAtMs }) => tokenExpiresAtMs ?? []);
    this.#tokenExpiry.set(expiries.length === 0 ? 0 : Math.floor(Math.min(...expiries) / 1_000), labels);
  }

  #labelsOf({ namespace = '', name }: ObjectKey): Labels {
    return this.#perObject ? { namespace, name } : {};
  }
}
