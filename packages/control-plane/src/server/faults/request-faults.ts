import type { Clock } from '@bowline/machinery';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import { readUrl, requestInfo, type Verb } from '../http/request-info.ts';
import { StatusError } from '../status/api-status.ts';

/** RequestFault says which requests go wrong, and how. What it leaves out does not matter for the choice. */
export interface RequestFault {
  /** Which requests. Defaults to all. */
  readonly verbs?: readonly Verb[] | undefined;
  /** With the group behind a dot: `configmaps`, `deployments.apps`. Defaults to all. */
  readonly resource?: string | undefined;
  /** Defaults to all. */
  readonly namespace?: string | undefined;
  /** Of the path; creates have none. Defaults to all. */
  readonly name?: string | undefined;
  /** A part of the User-Agent header. Defaults to all. */
  readonly userAgent?: string | undefined;
  /** How many requests are struck. Defaults to all until the fault is disposed of. */
  readonly times?: number | undefined;

  /** Waits this long, by the control plane's clock, before anything else. */
  readonly delayMs?: number | undefined;
  /** Answers this instead of doing what was asked. */
  readonly answer?:
    | {
        readonly code: number;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        readonly retryAfterSeconds?: number | undefined;
      }
    | undefined;
  /** Cuts the connection: before anything is done, or when all is done and only the answer is missing. */
  readonly cut?: 'before' | 'after' | undefined;
  /** Cuts a watch after so many events. */
  readonly cutAfterEvents?: number | undefined;
}

/** ConnectionCut is thrown where a client shall see its connection end instead of an answer. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';

  constructor() {
    super('the connection was cut on purpose');
  }
}

type Handle = (request: ApiRequest) => Promise<ApiResponse>;

/** RequestFaults makes requests go wrong on purpose, on their way into a server. */
export class RequestFaults {
  readonly #clock: Clock;
  readonly #rules = new Set<{ readonly fault: RequestFault; left: number }>();
  readonly #streams = new Set<AbortController>();
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** inject lets requests go wrong until the fault is disposed of or used up. The oldest fault that fits strikes. */
  inject(fault: RequestFault): Disposable {
    const rule = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(rule);
    return { [Symbol.dispose]: () => this.#rules.delete(rule) };
  }

  /** cutWatches ends every open watch as a lost connection would. */
  cutWatches(): void {
    for (const stream of this.#streams) stream.abort(new ConnectionCut());
  }

  /** pause lets nobody get an answer, nor a watch its events, until `resume`. */
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

  /** around is a server whose requests may go wrong. */
  around(handle: Handle): Handle {
    return async (request) => {
      await this.#gate?.opened;
      const fault = this.#strike(request);
      if (fault?.delayMs !== undefined) await this.#clock.sleep(fault.delayMs, request.signal);
      if (fault?.cut === 'before') throw new ConnectionCut();
      if (fault?.answer) return refused(fault.answer);
      const response = await handle(request);
      await this.#gate?.opened;
      if (fault?.cut === 'after') throw new ConnectionCut();
      const { body } = response;
      if (typeof body === 'string' || body instanceof Uint8Array) return response;
      return { ...response, body: this.#stream(body, fault?.cutAfterEvents ?? Number.POSITIVE_INFINITY) };
    };
  }

  #strike(request: ApiRequest): RequestFault | undefined {
    if (this.#rules.size === 0) return undefined;
    for (const rule of this.#rules) {
      if (!fits(rule.fault, request)) continue;
      rule.left--;
      if (rule.left <= 0) this.#rules.delete(rule);
      return rule.fault;
    }
    return undefined;
  }

  async *#stream(body: AsyncIterable<string>, events: number): AsyncGenerator<string> {
    const cut = new AbortController();
    this.#streams.add(cut);
    const aborted = new Promise<never>((_, reject) => {
      cut.signal.addEventListener('abort', () => reject(new ConnectionCut()));
    });
    aborted.catch(() => {});
    const chunks = body[Symbol.asyncIterator]();
    let left = events;
    try {
      for (;;) {
        const next = await Promise.race([chunks.next(), aborted]);
        if (next.done === true) return;
        await this.#gate?.opened;
        const lines = next.value.split(/(?<=\n)/);
        yield lines.length <= left ? next.value : lines.slice(0, left).join('');
        left -= lines.length;
        if (left <= 0) throw new ConnectionCut();
      }
    } finally {
      this.#streams.delete(cut);
      // Not waited for: it may be asleep until the client is gone, which is what this tells it.
      chunks.return?.().catch(() => {});
    }
  }
}

function fits(fault: RequestFault, { method, url, headers }: ApiRequest): boolean {
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

function refused({ code, reason, message = 'injected', retryAfterSeconds }: NonNullable<RequestFault['answer']>) {
  const status = new StatusError(
    code,
    reason,
    message,
    retryAfterSeconds === undefined ? undefined : { retryAfterSeconds },
  );
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify(status.toStatus()),
  };
}
