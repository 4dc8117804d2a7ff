import type { Clock } from '@bowline/machinery';
import { statusResponse } from '../api-server.ts';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import { readUrl, requestInfo, type Verb } from '../http/request-info.ts';
import { StatusError } from '../status/api-status.ts';

/** RequestFault configures which requests fail, and how. An omitted condition matches every request. */
export interface RequestFault {
  /** Defaults to all verbs. */
  readonly verbs?: readonly Verb[] | undefined;
  /** Followed by the group, if any: `configmaps`, `deployments.apps`. Defaults to all resources. */
  readonly resource?: string | undefined;
  /** Defaults to all namespaces. */
  readonly namespace?: string | undefined;
  /** The name in the path; create requests have none. Defaults to all names. */
  readonly name?: string | undefined;
  /** A substring of the User-Agent header. Defaults to all clients. */
  readonly userAgent?: string | undefined;
  /** How many requests are affected. Defaults to all until the fault is disposed of. */
  readonly times?: number | undefined;

  /** Waits this long, by the control plane's clock, before anything else. */
  readonly delayMs?: number | undefined;
  /** Returns this error instead of executing the request. */
  readonly response?:
    | {
        readonly code: number;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        readonly retryAfterSeconds?: number | undefined;
      }
    | undefined;
  /** Cuts the connection: before the request is executed, or after it, instead of the response. */
  readonly cut?: 'before' | 'after' | undefined;
  /** Cuts a watch after this many events. */
  readonly cutAfterEvents?: number | undefined;
}

/** ConnectionCut is thrown where a client must see its connection end instead of a response. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';

  constructor() {
    super('the connection was cut by an injected fault');
  }
}

type Handle = (request: ApiRequest) => Promise<ApiResponse>;

/** RequestFaults injects faults into requests before they reach a server. */
export class RequestFaults {
  readonly #clock: Clock;
  readonly #rules = new Set<{ readonly fault: RequestFault; left: number }>();
  readonly #streams = new Set<OpenStream>();
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * inject makes matching requests fail until the fault is disposed of or used up. The oldest fault that matches is
   * applied.
   */
  inject(fault: RequestFault): Disposable {
    const rule = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(rule);
    return { [Symbol.dispose]: () => this.#rules.delete(rule) };
  }

  /** cutWatches ends every open watch like a lost connection. */
  cutWatches(): void {
    for (const stream of this.#streams) stream.cut();
  }

  /** pause withholds all responses and watch events until `resume`. */
  pause(): void {
    if (this.#gate) return;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gate = { opened, open };
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** wrap returns the handler of a server with faults applied to its requests. */
  wrap(handle: Handle): Handle {
    return async (request) => {
      await this.#gate?.opened;
      const fault = this.#take(request);
      if (fault?.delayMs !== undefined) await this.#clock.sleep(fault.delayMs, request.signal);
      if (fault?.cut === 'before') throw new ConnectionCut();
      if (fault?.response) return statusResponse(refusalOf(fault.response));
      const response = await handle(request);
      await this.#gate?.opened;
      if (fault?.cut === 'after') throw new ConnectionCut();
      const { body } = response;
      if (typeof body === 'string' || body instanceof Uint8Array) return response;
      return { ...response, body: this.#stream(body, fault?.cutAfterEvents ?? Number.POSITIVE_INFINITY) };
    };
  }

  #take(request: ApiRequest): RequestFault | undefined {
    if (this.#rules.size === 0) return undefined;
    for (const rule of this.#rules) {
      if (!matches(rule.fault, request)) continue;
      rule.left--;
      if (rule.left <= 0) this.#rules.delete(rule);
      return rule.fault;
    }
    return undefined;
  }

  async *#stream(body: AsyncIterable<string>, events: number): AsyncGenerator<string> {
    const stream = new OpenStream(body);
    this.#streams.add(stream);
    let left = events;
    try {
      for (;;) {
        const next = await stream.next();
        if (next.done === true) return;
        await this.#gate?.opened;
        if (left === Number.POSITIVE_INFINITY) {
          yield next.value;
          continue;
        }
        const lines = next.value.split(/(?<=\n)/);
        yield lines.length <= left ? next.value : lines.slice(0, left).join('');
        left -= lines.length;
        if (left <= 0) throw new ConnectionCut();
      }
    } finally {
      this.#streams.delete(stream);
      stream.end();
    }
  }
}

/**
 * OpenStream is a watch that may be cut. Each wait is rejected individually: racing every wait against one shared
 * promise would retain every event that was ever faster.
 */
class OpenStream {
  readonly #chunks: AsyncIterator<string>;
  #isCut = false;
  #rejectNext: (() => void) | undefined;

  constructor(body: AsyncIterable<string>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** next returns the next chunk; it rejects when the stream is cut. */
  next(): Promise<IteratorResult<string>> {
    if (this.#isCut) return Promise.reject(new ConnectionCut());
    return new Promise((resolve, reject) => {
      this.#rejectNext = () => reject(new ConnectionCut());
      this.#chunks.next().then(resolve, reject);
    });
  }

  cut(): void {
    this.#isCut = true;
    this.#rejectNext?.();
  }

  end(): void {
    // Not awaited: the iterator may be waiting until the client is gone, which is what this call signals.
    this.#chunks.return?.().catch(() => {});
  }
}

function matches(fault: RequestFault, { method, url, headers }: ApiRequest): boolean {
  const target = readUrl(url);
  if (!target) return false;
  const info = requestInfo(method, target.path, target.query);
  if (fault.verbs && !fault.verbs.includes(info.verb)) return false;
  if (fault.userAgent !== undefined && !(headers['user-agent'] ?? '').includes(fault.userAgent)) return false;
  if (fault.resource === undefined && fault.namespace === undefined && fault.name === undefined) return true;
  if (!info.isResource) return false;
  const resource = info.group === '' ? info.resource : `${info.resource}.${info.group}`;
  return (
    (fault.resource === undefined || fault.resource === resource) &&
    (fault.namespace === undefined || fault.namespace === info.namespace) &&
    (fault.name === undefined || fault.name === info.name)
  );
}

function refusalOf({ code, reason, message = 'injected', retryAfterSeconds }: NonNullable<RequestFault['response']>) {
  return new StatusError(code, reason, message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
}
