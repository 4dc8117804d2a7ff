import type { Labels, Metrics } from '../observability/metrics.ts';

/** 10 ns to 1000 s in powers of ten: the buckets that existing workqueue dashboards expect. */
const DURATION_BUCKETS = Array.from({ length: 12 }, (_, power) => 1e-8 * 10 ** power);

/** More distinct priorities than this share one series, so that a caller cannot grow the label without bound. */
const MAX_PRIORITY_SERIES = 16;

/** QueueState provides the values of the gauges, read just before they are scraped. */
export interface QueueState {
  /** The number of ready keys by priority. Priorities that were used once stay, at zero. */
  readonly depthByPriority: ReadonlyMap<number, number>;
  /** Start times of the running keys, on the monotonic clock. */
  runningSince(): Iterable<number>;
  /** The monotonic time. */
  nowMs(): number;
}

/** QueueMetrics measures one queue under the names that Kubernetes controllers use for their work queues. */
export class QueueMetrics implements Disposable {
  readonly #labels: Labels;
  readonly #adds;
  readonly #waited;
  readonly #worked;
  readonly #retries;
  readonly #collector: Disposable;

  constructor(metrics: Metrics, name: string, controller: string, state: QueueState) {
    const labels = ['name', 'controller'];
    this.#labels = { name, controller };
    this.#adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys that became ready', labels });
    this.#retries = metrics.counter({
      name: 'workqueue_retries_total',
      help: 'Keys requeued after a failure',
      labels,
    });
    this.#waited = metrics.histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Time a key was ready before a worker took it',
      labels,
      buckets: DURATION_BUCKETS,
    });
    this.#worked = metrics.histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time a worker needed to process a key',
      labels,
      buckets: DURATION_BUCKETS,
    });
    const depth = metrics.gauge({
      name: 'workqueue_depth',
      help: 'Keys that are ready and waiting for a worker',
      labels: [...labels, 'priority'],
    });
    const unfinished = metrics.gauge({
      name: 'workqueue_unfinished_work_seconds',
      help: 'Sum of the durations of all running work',
      labels,
    });
    const longest = metrics.gauge({
      name: 'workqueue_longest_running_processor_seconds',
      help: 'Duration of the longest running work',
      labels,
    });

    this.#adds.add(this.#labels, 0);
    this.#retries.add(this.#labels, 0);
    this.#waited.zero?.(this.#labels);
    this.#worked.zero?.(this.#labels);
    this.#collector = metrics.collect(() => {
      let other = 0;
      let series = 0;
      for (const [priority, count] of state.depthByPriority) {
        if (++series > MAX_PRIORITY_SERIES) other += count;
        else depth.set(count, { ...this.#labels, priority: String(priority) });
      }
      if (series > MAX_PRIORITY_SERIES) depth.set(other, { ...this.#labels, priority: 'other' });

      const now = state.nowMs();
      let sum = 0;
      let oldest = 0;
      for (const since of state.runningSince()) {
        sum += now - since;
        oldest = Math.max(oldest, now - since);
      }
      unfinished.set(sum / 1000, this.#labels);
      longest.set(oldest / 1000, this.#labels);
    });
  }

  added(): void {
    this.#adds.add(this.#labels);
  }

  retried(): void {
    this.#retries.add(this.#labels);
  }

  taken(waitedMs: number): void {
    this.#waited.observe(waitedMs / 1000, this.#labels);
  }

  finished(workedMs: number): void {
    this.#worked.observe(workedMs / 1000, this.#labels);
  }

  [Symbol.dispose](): void {
    this.#collector[Symbol.dispose]();
  }
}
