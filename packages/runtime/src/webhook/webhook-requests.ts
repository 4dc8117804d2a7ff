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

/** WebhookRequestsOptions bounds the requests of one operator. */
export interface WebhookRequestsOptions {
  readonly routes: readonly Route[];
  /** Larger bodies get 413; of all together no more than eight times as much is held. */
  readonly maxBodyBytes: number;
  /** Reviews that are answered at the same time; others wait, within their own time. */
  readonly maxInFlight: number;
  /** After this many requests a connection is closed, so that callers spread over replicas again. */
  readonly maxRequestsPerConnection: number;
  readonly wire: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The longest that an API server waits for a webhook. */
export const LONGEST_REVIEW_MS = 30_000;
/**
 * An API server has the whole body before it calls, so one that takes longer than this to arrive is not from there, or of no use
 * any more.
 */
const BODY_TIMEOUT_MS = 5_000;
/** How many of the largest bodies may be held at once. Most reviews have a few kilobytes: far more of those than are answered at once. */
const LARGEST_BODIES = 8;
/** What arrives, waits or is answered at once: as many as there are connections. Only who sends the next before the answer gets there. */
const MOST_UNDER_WAY = 1000;

/** WebhookRequests answers the requests to one operator's webhooks: its limits are its own, whoever shares its server. */
export class WebhookRequests implements Disposable {
  /** Whether what handlers read is complete: until then nothing is answered. */
  ready = false;
  /** Whether every answer is to be the last of its connection. */
  closing = false;
  readonly #options: WebhookRequestsOptions;
  readonly #limit: WorkLimit;
  readonly #bodies: BodyBudget;
  readonly #metrics: WebhookMetrics;
  readonly #cut = new AbortController();
  readonly #served = new WeakMap<Socket, number>();
  readonly #idle = new Set<() => void>();
  #underWay = 0;

  constructor(options: WebhookRequestsOptions) {
    this.#options = options;
    this.#limit = new WorkLimit(options.maxInFlight);
    this.#bodies = new BodyBudget(LARGEST_BODIES * options.maxBodyBytes);
    this.#metrics = new WebhookMetrics(
      options.metrics,
      options.routes.map(({ name }) => name),
    );
    setMaxListeners(0, this.#cut.signal);
  }

  /** cut ends everything under way. */
  cut(): void {
    this.#cut.abort(new HttpProblem(503, 'the webhook server stops'));
  }

  /** idle resolves as soon as no request is under way. */
  async idle(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  [Symbol.dispose](): void {
    this.#metrics[Symbol.dispose]();
  }

  /** handle never rejects: whatever happens becomes an answer, if there is still somebody to hear it. */
  async handle(route: Route, search: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { wire, log, maxBodyBytes } = this.#options;
    const startedAt = wire.monotonic();
    this.#underWay++;
    this.#metrics.started(route.name);
    using scope = new RequestScope({
      signal: this.#cut.signal,
      wire,
      timeoutMs: timeLimit(route, search),
      onTimeout: () => new HttpProblem(504, `the webhook ${route.name} did not answer in time`),
    });
    const gone = (): void => scope.cancel(new HttpProblem(499, 'the caller did not wait for the answer'));
    response.once('close', gone);
    const last = this.#isLast(request.socket);
    let code = 200;
    try {
      const answer = JSON.stringify(await this.#answer(route, request, scope));
      send(response, 200, answer, { type: 'application/json', close: last || this.closing });
    } catch (error) {
      const problem = error instanceof HttpProblem ? error : new HttpProblem(500, `the webhook ${route.name} failed`);
      if (problem !== error) log.error('webhook request failed', { webhook: route.name, error });
      if (problem.status === 504) log.warn('webhook did not answer in time', { webhook: route.name });
      code = problem.status;
      refuse(request, response, problem, { close: last || this.closing, maxBodyBytes });
    } finally {
      response.off('close', gone);
      this.#metrics.finished(route.name, code, wire.monotonic() - startedAt);
      this.#finished();
    }
  }

  /** Whether a connection has had its share of requests with this one. */
  #isLast(socket: Socket): boolean {
    const served = (this.#served.get(socket) ?? 0) + 1;
    this.#served.set(socket, served);
    return served >= this.#options.maxRequestsPerConnection;
  }

  #finished(): void {
    if (--this.#underWay > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  async #answer(route: Route, request: IncomingMessage, scope: RequestScope): Promise<object> {
    if (!this.ready) throw new HttpProblem(503, `the webhook ${route.name} is not ready yet`);
    if (this.#underWay > MOST_UNDER_WAY)
      throw new HttpProblem(503, `more than ${MOST_UNDER_WAY} requests are under way`);
    if (request.method !== 'POST') throw new HttpProblem(405, 'only POST is served here');
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json') throw new HttpProblem(415, 'the body must be application/json');
    const { maxBodyBytes: mostBytes, wire } = this.#options;
    // Read before it has a place: callers are not authenticated, and who never ends a body must not keep others waiting.
    using share = this.#bodies.begin(request);
    const body = await readBody(request, { mostBytes, timeoutMs: BODY_TIMEOUT_MS, scope, share, wire });
    return await this.#limit.run(scope, (signal) => route.answer(body, signal));
  }
}

/** A twentieth, at least a tenth of a second: the answer has to travel, and "too late" should be ours to say. */
function timeLimit(route: Route, search: string): number {
  const asked = new URLSearchParams(search).get('timeout');
  const waitsMs = Math.min(route.timeoutMs, LONGEST_REVIEW_MS, durationOf(asked) ?? LONGEST_REVIEW_MS);
  return Math.max(50, waitsMs - Math.max(100, waitsMs / 20));
}

/** The API server says how long it waits: the webhook's timeoutSeconds, or less when the user's request ends earlier. */
function durationOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  try {
    const ms = parseDuration(text);
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
