/// <reference path="./prom-client-parts.d.ts" />
import PromCounter from 'prom-client/lib/counter.js';
import PromGauge from 'prom-client/lib/gauge.js';
import PromHistogram from 'prom-client/lib/histogram.js';
import PromRegistry from 'prom-client/lib/registry.js';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Labels, MetricOptions, Metrics } from './metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';

/** MetricsRegistry is a Metrics implementation that renders Prometheus' text format. */
export interface MetricsRegistry extends Metrics {
  /** render runs the collect callbacks and returns every metric. */
  render(): Promise<string>;
  /** The Content-Type header for the output of `render`. */
  readonly contentType: string;
}

/** CreateMetricsOptions configures a registry. */
export interface CreateMetricsOptions {
  /** Includes CPU, memory, file descriptors and start time of the process. Defaults to true. */
  readonly process?: boolean;
}

/** The default buckets of a histogram: 5 ms to 10 s. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Known {
  readonly shape: string;
  readonly metric: unknown;
}

/**
 * createMetrics returns a new registry. It has no global state and no background work, so several can exist in one
 * process. A metric without labels starts at zero; one with labels when a series is first created.
 *
 * @example
 * ```ts
 * const metrics = createMetrics();
 * const copies = metrics.counter({ name: 'demo_copies_total', help: 'Objects copied.' });
 * copies.add();
 * process.stdout.write(await metrics.render());
 * ```
 */
export function createMetrics(options: CreateMetricsOptions = {}): MetricsRegistry {
  const registry = new PromRegistry();
  const known = new Map<string, Known>();
  const callbacks = new Set<() => void>();

  function once<T>(type: string, wanted: MetricOptions, make: () => T): T {
    const shape = JSON.stringify([type, wanted.labels ?? [], type === 'histogram' ? (wanted.buckets ?? []) : []]);
    const existing = known.get(wanted.name);
    if (!existing) {
      const metric = make();
      known.set(wanted.name, { shape, metric });
      return metric;
    }
    if (existing.shape !== shape) {
      throw new BowlineError(
        'BOWLINE_METRIC_CONFLICT',
        `cannot create ${type} ${wanted.name}: a metric of that name exists with another type, labels or buckets`,
      );
    }
    // The definition includes the type, so the existing metric has the requested type.
    return existing.metric as T;
  }

  const metrics: MetricsRegistry = {
    contentType: registry.contentType,
    counter: (wanted) =>
      once('counter', wanted, () => {
        const counter = new PromCounter({ ...described(wanted), registers: [registry] });
        return {
          add(labels: Labels = {}, amount = 1) {
            counter.inc(labels, amount);
          },
          remove: (labels: Labels) => counter.remove(labels),
        };
      }),
    gauge: (wanted) =>
      once('gauge', wanted, () => {
        const gauge = new PromGauge({ ...described(wanted), registers: [registry] });
        return {
          set: (value: number, labels: Labels = {}) => gauge.set(labels, value),
          remove: (labels: Labels) => gauge.remove(labels),
        };
      }),
    histogram: (wanted) =>
      once('histogram', wanted, () => {
        const buckets = [...(wanted.buckets ?? DEFAULT_BUCKETS)];
        const histogram = new PromHistogram({ ...described(wanted), buckets, registers: [registry] });
        return {
          observe: (value: number, labels: Labels = {}) => histogram.observe(labels, value),
          zero: (labels: Labels = {}) => histogram.zero(labels),
          remove: (labels: Labels) => histogram.remove(labels),
        };
      }),
    collect(callback) {
      callbacks.add(callback);
      return {
        [Symbol.dispose]() {
          callbacks.delete(callback);
        },
      };
    },
    async render() {
      for (const callback of callbacks) callback();
      return await registry.metrics();
    },
  };
  if (options.process ?? true) addProcessMetrics(metrics);
  return metrics;
}

function described(wanted: MetricOptions) {
  return { name: wanted.name, help: wanted.help, labelNames: [...(wanted.labels ?? [])] };
}
