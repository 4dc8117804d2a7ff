/** Labels are the label values of one series. Names must be those the metric was made with. */
export type Labels = Readonly<Record<string, string>>;

/** MetricOptions describes a metric. */
export interface MetricOptions {
  name: string;
  help: string;
  /** Label names. Bounded values only: never an object's name. Defaults to none. */
  labels?: readonly string[];
  /** Upper bounds of a histogram's buckets, in base units. Ignored by counters and gauges. */
  buckets?: readonly number[];
}

/** Counter only grows. `add(labels, 0)` creates the series at zero; `remove`, where there is one, ends it. */
export interface Counter {
  add(labels?: Labels, amount?: number): void;
  remove?(labels: Labels): void;
}

/** Gauge is a value that comes and goes. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  remove(labels: Labels): void;
}

/**
 * Histogram counts observations by size. `zero(labels)`, where there is one, creates the series without an observation, and
 * `remove` ends it.
 */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
  zero?(labels?: Labels): void;
  remove?(labels: Labels): void;
}

/**
 * Metrics makes metrics. Asking twice for the same name gives the same metric, so parts need not know of each other.
 * `collect` registers a callback that sets gauges just before they are read.
 */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions): Histogram;
  collect(callback: () => void): Disposable;
}

const nothing: Counter & Gauge & Histogram = { add() {}, set() {}, remove() {}, observe() {} };

/** noMetrics measures nothing; the default of parts that are used alone. */
export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
  collect: () => ({ [Symbol.dispose]() {} }),
};
