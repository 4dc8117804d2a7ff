import type { Labels, Metrics } from '../observability/metrics.ts';

/** Most reviews take milliseconds; none takes longer than the API server's limit of 30 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/** WebhookMetrics measures the webhooks of one server, with the metric names of controller-runtime. */
export class WebhookMetrics implements Disposable {
  readonly #latency;
  readonly #requests;
  readonly #inFlight = new Map<string, number>();
  readonly #collector: Disposable;

  constructor(metrics: Metrics, webhooks: readonly string[]) {
    const labels = ['webhook'];
    const of = (name: string, help: string) => ({ name: `controller_runtime_webhook_${name}`, help, labels });
    this.#latency = metrics.histogram({ ...of('latency_seconds', 'Duration of reviews'), buckets: BUCKETS });
    this.#requests = metrics.counter({
      ...of('requests_total', 'Requests by HTTP status of the response'),
      labels: [...labels, 'code'],
    });
    const inFlight = metrics.gauge(of('requests_in_flight', 'Requests in progress'));
    for (const webhook of webhooks) {
      this.#inFlight.set(webhook, 0);
      this.#latency.zero?.({ webhook });
      for (const code of ['200', '500']) this.#requests.add({ webhook, code }, 0);
    }
    this.#collector = metrics.collect(() => {
      for (const [webhook, count] of this.#inFlight) inFlight.set(count, { webhook });
    });
  }

  started(webhook: string): void {
    this.#inFlight.set(webhook, (this.#inFlight.get(webhook) ?? 0) + 1);
  }

  finished(webhook: string, code: number, tookMs: number): void {
    const labels: Labels = { webhook, code: String(code) };
    this.#inFlight.set(webhook, (this.#inFlight.get(webhook) ?? 1) - 1);
    this.#requests.add(labels);
    this.#latency.observe(tookMs / 1000, { webhook });
  }

  [Symbol.dispose](): void {
    this.#collector[Symbol.dispose]();
  }
}
