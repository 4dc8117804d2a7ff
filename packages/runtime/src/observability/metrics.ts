/** Labels holds the label values of one series. The names must be those declared for the metric. */
export type Labels = Readonly<Record<string, string>>;

/** MetricOptions describes a metric. */
export interface MetricOptions {
  name: string;
  help: string;
  /** Label names. Use bounded values only: never an object's name. Defaults to none. */
  labels?: readonly string[];
  /** Upper bounds of a histogram's buckets, in base units. Ignored by counters and gauges. */
  buckets?: readonly number[];
}

/** Counter only increases. `add(labels, 0)` creates the series at zero; `remove`, if implemented, deletes it. */
export interface Counter {
  add(labels?: Labels, amount?: number): void;
  remove?(labels: Labels): void;
}

/** Gauge is a value that can go up and down. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  remove(labels: Labels): void;
}

/**
 * Histogram counts observations by size. `zero(labels)`, if implemented, creates the series without an observation, and
 * `remove` deletes it.
 */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
  zero?(labels?: Labels): void;
  remove?(labels: Labels): void;
}

/**
 * Metrics creates metrics. Requesting the same name twice returns the same metric, so that components need not know
 * each other. `collect` registers a callback that sets gauges just before they are read.
 */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions): Histogram;
  collect(callback: () => void): Disposable;
}

const nothing: Counter & Gauge & Histogram = { add() {}, set() {}, remove() {}, observe() {} };

/** noMetrics measures nothing; the default of standalone components. */
export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
  collect: () => ({ [Symbol.dispose]() {} }),
};
