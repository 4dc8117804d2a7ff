import type { Labels, Metrics } from '../observability/metrics.ts';

/** Outcome is the `result` label of a finished reconcile. */
export type Outcome = 'success' | 'error' | 'requeue' | 'requeue_after';

/** The buckets of controller-runtime, so that its dashboards work: dense below a second, then up to a minute. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** ControllerState provides the values of the gauges, read just before they are scraped. */
export interface ControllerState {
  activeWorkers(): number;
  overdue(): number;
  paused(): number;
  unmapped(): number;
}

/**
 * ControllerMetrics measures one controller under the names that controller-runtime uses. All series exist from the
 * start.
 */
export class ControllerMetrics implements Disposable {
  readonly #labels: Labels;
  readonly #outcomes: Readonly<Record<Outcome, Labels>>;
  readonly #total;
  readonly #errors;
  readonly #terminal;
  readonly #panics;
  readonly #timeouts;
  readonly #time;
  readonly #mapErrors;
  readonly #statusLoops;
  readonly #triggerKeys;
  readonly #triggerErrors;
  readonly #collector: Disposable;

  constructor(metrics: Metrics, controller: string, concurrency: number, state: ControllerState) {
    const labels = ['controller'];
    const of = (name: string, help: string) => ({ name: `controller_runtime_${name}`, help, labels });
    this.#labels = { controller };
    this.#total = metrics.counter({ ...of('reconcile_total', 'Reconciles by result'), labels: [...labels, 'result'] });
    this.#errors = metrics.counter(of('reconcile_errors_total', 'Reconciles that threw or timed out'));
    this.#terminal = metrics.counter(of('terminal_reconcile_errors_total', 'Reconciles that threw a terminal error'));
    this.#panics = metrics.counter(
      of(
        'reconcile_panics_total',
        'Reconciles that threw a value other than an Error, or an error that indicates a bug',
      ),
    );
    this.#timeouts = metrics.counter(of('reconcile_timeouts_total', 'Reconciles that exceeded their timeout'));
    this.#time = metrics.histogram({
      ...of('reconcile_time_seconds', 'Duration of a reconcile'),
      buckets: DURATION_BUCKETS,
    });
    this.#mapErrors = metrics.counter({
      name: 'bowline_map_errors_total',
      help: 'Map functions that threw (and are retried) and predicates that threw (the event is accepted)',
      labels,
    });
    this.#statusLoops = metrics.counter({
      name: 'bowline_status_loops_total',
      help: 'Objects whose status changed in every run, so that their runs are slowed down',
      labels,
    });
    this.#triggerKeys = metrics.counter({
      name: 'bowline_trigger_keys_total',
      help: 'Keys from triggers outside Kubernetes',
      labels: [...labels, 'trigger'],
    });
    this.#triggerErrors = metrics.counter({
      name: 'bowline_trigger_errors_total',
      help: 'Triggers outside Kubernetes that failed or ended, and their values that are not keys',
      labels: [...labels, 'trigger'],
    });
    const unmapped = metrics.gauge({
      name: 'bowline_unmapped_objects',
      help: 'Objects whose map function threw and is being retried',
      labels,
    });
    const maxConcurrent = metrics.gauge(of('max_concurrent_reconciles', 'Maximum number of concurrent reconciles'));
    const active = metrics.gauge(of('active_workers', 'Reconciles in progress'));
    const overdue = metrics.gauge({
      name: 'bowline_reconciles_overdue',
      help: 'Reconciles that timed out and have not returned, so that their keys are blocked',
      labels,
    });
    const paused = metrics.gauge({
      name: 'bowline_paused_objects',
      help: 'Objects that are not reconciled because they are annotated as paused',
      labels,
    });

    const outcomeLabels = (result: Outcome): Labels => ({ controller, result });
    this.#outcomes = {
      success: outcomeLabels('success'),
      error: outcomeLabels('error'),
      requeue: outcomeLabels('requeue'),
      requeue_after: outcomeLabels('requeue_after'),
    };
    for (const labels of Object.values(this.#outcomes)) this.#total.add(labels, 0);
    for (const counter of [
      this.#errors,
      this.#terminal,
      this.#panics,
      this.#timeouts,
      this.#mapErrors,
      this.#statusLoops,
    ]) {
      counter.add(this.#labels, 0);
    }
    this.#time.zero?.(this.#labels);
    maxConcurrent.set(concurrency, this.#labels);
    this.#collector = metrics.collect(() => {
      active.set(state.activeWorkers(), this.#labels);
      overdue.set(state.overdue(), this.#labels);
      paused.set(state.paused(), this.#labels);
      unmapped.set(state.unmapped(), this.#labels);
    });
  }

  finished(outcome: Outcome, tookMs: number): void {
    this.#total.add(this.#outcomes[outcome]);
    this.#time.observe(tookMs / 1000, this.#labels);
  }

  failed(): void {
    this.#errors.add(this.#labels);
  }

  failedTerminally(): void {
    this.#terminal.add(this.#labels);
  }

  panicked(): void {
    this.#panics.add(this.#labels);
  }

  timedOut(): void {
    this.#timeouts.add(this.#labels);
  }

  statusLooped(): void {
    this.#statusLoops.add(this.#labels);
  }

  /** registerTrigger creates the series of a trigger at zero. */
  registerTrigger(trigger: string): void {
    this.#triggerKeys.add({ ...this.#labels, trigger }, 0);
    this.#triggerErrors.add({ ...this.#labels, trigger }, 0);
  }

  triggered(trigger: string): void {
    this.#triggerKeys.add({ ...this.#labels, trigger });
  }

  triggerFailed(trigger: string): void {
    this.#triggerErrors.add({ ...this.#labels, trigger });
  }

  mapFailed(): void {
    this.#mapErrors.add(this.#labels);
  }

  [Symbol.dispose](): void {
    this.#collector[Symbol.dispose]();
  }
}
