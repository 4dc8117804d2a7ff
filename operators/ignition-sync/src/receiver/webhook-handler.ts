import type { IncomingHttpHeaders } from 'node:http';
import {
  BoundedMap,
  type Clock,
  dnsLabelProblems,
  dnsSubdomainProblems,
  isObject,
  type JsonObject,
  parseJson,
} from '@bowline/machinery';
import type { Counter, Log, Metrics } from '@bowline/runtime';
import { MAX_NAME_LENGTH } from '../api/names.ts';
import { Authenticator, type ReceiverSecrets, type SyncKey } from './authenticator.ts';
import { type Decision, decideRequest, type WebhookTarget } from './decide-request.ts';
import { deliveryId, parsePayload } from './parse-payload.ts';
import type { PayloadSource } from './payload.ts';
import { RateLimit } from './rate-limit.ts';
import type { ReceivedBody } from './read-body.ts';
import { ReceiverProblem } from './receiver-problem.ts';

/** WebhookRequest is a request to the receiver. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** readBody is called at most once, and rejects with a ReceiverProblem. */
  readBody(): Promise<ReceivedBody>;
}

/** WebhookResponse is the response to a request. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly accepted: boolean; readonly ref?: string; readonly message?: string };
}

/** WebhookHandlerOptions configures which requests are accepted, and what they change. */
export interface WebhookHandlerOptions {
  /** findSync reads an IgnitionSync from the cache. */
  readonly findSync: (key: SyncKey) => WebhookTarget | undefined;
  readonly secrets: ReceiverSecrets;
  /** annotate writes what `decide` returns for the current state of an IgnitionSync; undefined if that is gone. */
  readonly annotate: (
    key: SyncKey,
    target: WebhookTarget,
    decide: (current: WebhookTarget) => Decision,
  ) => Promise<Decision | undefined>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'counter'>;
  /** Accept requests if no authentication is configured. Defaults to false. */
  readonly allowUnauthenticated?: boolean | undefined;
  /** The status for a request that changes nothing. Defaults to 200. */
  readonly acceptDuplicatesWith?: 200 | 202 | undefined;
  /** The maximum number of requests per IgnitionSync and minute. Defaults to 100. */
  readonly rateLimit?: number | undefined;
}

/** MAX_DELIVERIES is the number of deliveries that are remembered. */
export const MAX_DELIVERIES = 10_000;
const DELIVERY_MS = 10 * 60_000;
const PREFIX = '/webhook/';
/** The deepest payload of a Git server has less than ten levels. */
const MAX_DEPTH = 64;
const UNKNOWN = 'unknown';

/** WebhookHandler answers requests to the receiver. */
export class WebhookHandler {
  readonly #options: WebhookHandlerOptions;
  readonly #authenticator: Authenticator;
  readonly #rateLimit: RateLimit;
  readonly #deliveries: BoundedMap<string, true>;
  readonly #received: Counter;

  constructor(options: WebhookHandlerOptions) {
    const { secrets, allowUnauthenticated, rateLimit = 100, clock, metrics } = options;
    this.#options = options;
    const findSync = (key: SyncKey): WebhookTarget | undefined => this.#find(key);
    this.#authenticator = new Authenticator({ secrets, findSync, allowUnauthenticated });
    this.#rateLimit = new RateLimit({ perMinute: rateLimit, clock });
    this.#deliveries = new BoundedMap({ maxEntries: MAX_DELIVERIES, expiry: { clock, afterMs: DELIVERY_MS } });
    this.#received = metrics.counter({
      name: 'ignition_sync_webhook_received_total',
      help: 'The number of requests to the receiver, by the system that sent them and the status of the response.',
      labels: ['source', 'code'],
    });
    this.#received.add({ source: UNKNOWN, code: '401' }, 0);
  }

  /** The number of paths and deliveries that are remembered. */
  get remembered(): { readonly paths: number; readonly deliveries: number } {
    return { paths: this.#rateLimit.size, deliveries: this.#deliveries.size };
  }

  /** answer returns the response to a request. It never rejects. */
  async answer(request: WebhookRequest): Promise<WebhookResponse> {
    const progress: Progress = {};
    const response = await this.#answer(request, progress).catch((error: unknown) => this.#failure(error));
    this.#received.add({ source: progress.source ?? UNKNOWN, code: String(response.status) });
    return response;
  }

  async #answer(request: WebhookRequest, progress: Progress): Promise<WebhookResponse> {
    const key = keyIn(request.url);
    if (!key) throw notFound();
    if (request.method !== 'POST') throw new ReceiverProblem(405, 'send a POST request', { allow: 'POST' });
    const path = `${key.namespace}/${key.name}`;
    const retryAfter = this.#rateLimit.take(path);
    if (retryAfter !== undefined)
      throw new ReceiverProblem(429, 'too many requests', { 'retry-after': String(retryAfter) });
    const body = await this.#readAuthentic(request, key);
    const target = this.#find(key);
    if (!target) throw notFound();
    const id = deliveryId(request.headers);
    const delivery = id === undefined ? undefined : `${path} ${id}`;
    if (delivery !== undefined && this.#deliveries.has(delivery)) return ignored('already received');
    const response = await this.#receive(request.headers, body, { key, target, progress });
    // Only now: the sender repeats a delivery that failed.
    if (delivery !== undefined) this.#deliveries.set(delivery, true);
    return response;
  }

  async #receive(
    headers: IncomingHttpHeaders,
    body: JsonObject,
    { key, target, progress }: { key: SyncKey; target: WebhookTarget; progress: Progress },
  ): Promise<WebhookResponse> {
    const { annotate, clock, log, acceptDuplicatesWith = 200 } = this.#options;
    const payload = parsePayload(headers, body);
    progress.source = payload.source;
    if (payload.kind === 'invalid') throw new ReceiverProblem(400, payload.message);
    if (payload.kind === 'ignored') return ignored(payload.message);
    const now = clock.now();
    const decision = await annotate(key, target, (current) => decideRequest(payload, current, now));
    if (!decision) throw notFound();
    if (decision.outcome === 'ignored') return ignored(decision.message);
    const { ref } = decision;
    if (decision.outcome === 'unchanged')
      return { status: acceptDuplicatesWith, headers: {}, body: { accepted: true, ref, message: 'ref already set' } };
    log.info('webhook accepted', { ...key, source: payload.source, ref });
    return { status: 202, headers: {}, body: { accepted: true, ref } };
  }

  /** The body is released before anything is written: a write may take long. */
  async #readAuthentic(request: WebhookRequest, key: SyncKey): Promise<JsonObject> {
    using body = await request.readBody();
    if (!this.#authenticator.isAuthentic(request.headers, body.bytes, key)) {
      this.#options.log.debug('webhook is not authentic', { ...key });
      throw new ReceiverProblem(401, 'unauthorized');
    }
    return jsonObject(body.bytes);
  }

  /** An IgnitionSync that receives no webhooks is treated as if it did not exist. */
  #find(key: SyncKey): WebhookTarget | undefined {
    const target = this.#options.findSync(key);
    return target?.spec.webhook.enabled === true ? target : undefined;
  }

  #failure(error: unknown): WebhookResponse {
    if (error instanceof ReceiverProblem) {
      const { status, message, headers } = error;
      return { status, headers, body: { accepted: false, message } };
    }
    this.#options.log.error('cannot record a webhook', { error });
    return { status: 500, headers: {}, body: { accepted: false, message: 'the request could not be recorded; retry' } };
  }
}

/** What is known about a request when it ends. */
interface Progress {
  source?: PayloadSource | undefined;
}

function ignored(message: string): WebhookResponse {
  return { status: 200, headers: {}, body: { accepted: false, message } };
}

function notFound(): ReceiverProblem {
  return new ReceiverProblem(404, 'not found');
}

/** keyIn returns the IgnitionSync of a path. Names need no percent-encoding, so an encoded one is unknown. */
function keyIn(url: string): SyncKey | undefined {
  const [path = ''] = url.split('?', 1);
  if (!path.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...rest] = path.slice(PREFIX.length).split('/', 3);
  const isKey =
    rest.length === 0 &&
    name.length <= MAX_NAME_LENGTH &&
    dnsLabelProblems(namespace).length === 0 &&
    dnsSubdomainProblems(name).length === 0;
  return isKey ? { namespace, name } : undefined;
}

function jsonObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    ({ value } = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { maxDepth: MAX_DEPTH }));
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new ReceiverProblem(
    400,
    'the body must be a JSON object; set the content type of the webhook to application/json',
  );
}
