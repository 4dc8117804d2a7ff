import { type Counter, type Histogram, type Metrics, noMetrics } from '../observability/metrics.ts';

/** ClientMetrics holds the request metrics, under the names that existing dashboards use. */
export interface ClientMetrics {
  readonly requests: Counter;
  readonly duration: Histogram;
  readonly requestSize: Histogram;
  readonly responseSize: Histogram;
  readonly retries: Counter;
}

const SIZES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** clientMetrics creates the request metrics, with the series that always exist at zero. */
export function clientMetrics(metrics: Metrics = noMetrics, host = ''): ClientMetrics {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status code; `<error>` if there was no response.',
    labels: ['code', 'method', 'host'],
  });
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) requests.add({ code: '200', method, host }, 0);
  return {
    requests,
    duration: metrics.histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time until the complete response of a request, or until the headers of a watch.',
      labels: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    }),
    requestSize: metrics.histogram({
      name: 'rest_client_request_size_bytes',
      help: 'Size of request bodies.',
      labels: ['verb', 'host'],
      buckets: SIZES,
    }),
    responseSize: metrics.histogram({
      name: 'rest_client_response_size_bytes',
      help: 'Size of response bodies, except those of watches.',
      labels: ['verb', 'host'],
      buckets: SIZES,
    }),
    retries: metrics.counter({
      name: 'rest_client_request_retries_total',
      help: 'Retried requests, by cause.',
      labels: ['code', 'verb', 'host'],
    }),
  };
}
