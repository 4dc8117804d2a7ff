import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, parseDuration } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { RequestScope } from '../transport/request-scope.ts';
import { BodyBudget } from './body-budget.ts';
import { HttpProblem } from './http-problem.ts';
import { readBody } from './read-body.ts';
import { refuse, send } from './send.ts';
import { WebhookMetrics } from './webhook-metrics.ts';
import type { Route } from './webhook-route.ts';
import { WorkLimit } from './work-limit.ts';

/** WebhookRequestsOptions limits the requests of one operator. */
export interface WebhookRequestsOptions {
  readonly routes: readonly Route[];
  /** Larger bodies get 413; all bodies together may hold at most eight times as much. */
  readonly maxBodyBytes: number;
  /** The maximum number of concurrent reviews; others wait, within their own timeout. */
  readonly maxInFlight: number;
  /** A connection is closed after this many requests, so that callers are distributed over the replicas again. */
  readonly maxRequestsPerConnection: number;
  readonly wire: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The longest time an API server waits for a webhook. */
export const MAX_REVIEW_MS = 30_000;
/**
 * An API server has the whole body before it calls, so a body that takes longer than this does not come from one, or is
 * no longer useful.
 */
const BODY_TIMEOUT_MS = 5_000;
/**
 * The number of maximum-size bodies that may be held at once. Most reviews have a few kilobytes, so far more of those
 * fit than are processed at once.
 */
const MAX_FULL_SIZE_BODIES = 8;
/**
 * The maximum number of requests that arrive, wait or are processed at once: as many as there are connections. Only a
 * caller that pipelines requests can exceed it.
 */
const MAX_ACTIVE = 1000;

/**
 * WebhookRequests handles the requests to one operator's webhooks. Each operator has its own limits, even if several
 * share a server.
 */
export class WebhookRequests implements Disposable {
  /** Whether the caches that handlers read are synced: until then no request is served. */
  ready = false;
  /** Whether to close each connection after its next response. */
  closing = false;
  readonly #options: WebhookRequestsOptions;
  readonly #limit: WorkLimit;
  readonly #bodies: BodyBudget;
  readonly #metrics: WebhookMetrics;
  readonly #cancel = new AbortController();
  readonly #served = new WeakMap<Socket, number>();
  readonly #idle = new Set<() => void>();
  #active = 0;

  constructor(options: WebhookRequestsOptions) {
    this.#options = options;
    this.#limit = new WorkLimit(options.maxInFlight);
    this.#bodies = new BodyBudget(MAX_FULL_SIZE_BODIES * options.maxBodyBytes);
    this.#metrics = new WebhookMetrics(
      options.metrics,
      options.routes.map(({ name }) => name),
    );
    setMaxListeners(0, this.#cancel.signal);
  }

  /** cancel cancels all active requests. */
  cancel(): void {
    this.#cancel.abort(new HttpProblem(503, 'the webhook server is stopping'));
  }

  /** idle resolves as soon as no request is active. */
  async idle(): Promise<void> {
    if (this.#active > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  [Symbol.dispose](): void {
    this.#metrics[Symbol.dispose]();
  }

  /** handle never rejects: every outcome becomes a response, if the caller is still connected. */
  async handle(route: Route, search: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { wire, log, maxBodyBytes } = this.#options;
    const startedAt = wire.monotonic();
    this.#active++;
    this.#metrics.started(route.name);
    using scope = new RequestScope({
      signal: this.#cancel.signal,
      wire,
      timeoutMs: timeLimit(route, search),
      onTimeout: () => new HttpProblem(504, `the webhook ${route.name} did not respond in time`),
    });
    const gone = (): void => scope.cancel(new HttpProblem(499, 'the caller did not wait for the response'));
    response.once('close', gone);
    const last = this.#isLast(request.socket);
    let code = 200;
    try {
      const payload = JSON.stringify(await this.#respond(route, request, scope));
      send(response, 200, payload, { type: 'application/json', close: last || this.closing });
    } catch (error) {
      const problem = error instanceof HttpProblem ? error : new HttpProblem(500, `the webhook ${route.name} failed`);
      if (problem !== error) log.error('webhook request failed', { webhook: route.name, error });
      if (problem.status === 504) log.warn('webhook did not respond in time', { webhook: route.name });
      code = problem.status;
      refuse(request, response, problem, { close: last || this.closing, maxBodyBytes });
    } finally {
      response.off('close', gone);
      this.#metrics.finished(route.name, code, wire.monotonic() - startedAt);
      this.#finished();
    }
  }

  /** #isLast returns whether a connection has reached its maximum number of requests. */
  #isLast(socket: Socket): boolean {
    const served = (this.#served.get(socket) ?? 0) + 1;
    this.#served.set(socket, served);
    return served >= this.#options.maxRequestsPerConnection;
  }

  #finished(): void {
    if (--this.#active > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  async #respond(route: Route, request: IncomingMessage, scope: RequestScope): Promise<object> {
    if (!this.ready) throw new HttpProblem(503, `the webhook ${route.name} is not ready yet`);
    if (this.#active > MAX_ACTIVE) throw new HttpProblem(503, `more than ${MAX_ACTIVE} requests are in progress`);
    if (request.method !== 'POST') throw new HttpProblem(405, 'only POST is served here');
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json') throw new HttpProblem(415, 'the body must be application/json');
    const { maxBodyBytes: maxBytes, wire } = this.#options;
    // Read before a slot is taken: callers are not authenticated, and a caller that never completes a body must not
    // block others.
    using share = this.#bodies.begin(request);
    const body = await readBody(request, { maxBytes, timeoutMs: BODY_TIMEOUT_MS, scope, share, wire });
    return await this.#limit.run(scope, (signal) => route.respond(body, signal));
  }
}

/**
 * Subtract a twentieth, at least 100 ms: the response needs time to arrive, and the timeout should be reported by us.
 */
function timeLimit(route: Route, search: string): number {
  const requestedTimeout = new URLSearchParams(search).get('timeout');
  const limitMs = Math.min(route.timeoutMs, MAX_REVIEW_MS, durationOf(requestedTimeout) ?? MAX_REVIEW_MS);
  return Math.max(50, limitMs - Math.max(100, limitMs / 20));
}

/** The API server sends how long it waits: the webhook's timeoutSeconds, or less if the user's request ends earlier. */
function durationOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  try {
    const ms = parseDuration(text);
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
