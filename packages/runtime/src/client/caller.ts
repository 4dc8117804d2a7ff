import type { Status } from '@bowline/kubernetes';
import { between, type Clock, type Random } from '@bowline/machinery';
import { ApiError, type ApiRequest } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { Impersonation } from '../transport/connection-config.ts';
import type { Lane, Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import type { RequestCheck, WriteGuard } from './client.ts';
import type { ClientMetrics } from './client-metrics.ts';
import type { Warnings } from './warnings.ts';

/** CallerOptions holds what all calls of one client share. */
export interface CallerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ClientMetrics;
  readonly warnings: Warnings;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly impersonate: Impersonation | undefined;
  readonly lane: Exclude<Lane, 'watch'>;
  /** All of them are called before each request. */
  readonly checks: readonly RequestCheck[];
  /** All of them are called before each attempt of a write. */
  readonly guards: readonly WriteGuard[];
}

/** Call is one request as a method of the client issues it. */
export interface Call {
  readonly apiRequest: ApiRequest;
  readonly method: TransportRequest['method'];
  readonly accept?: string | undefined;
  readonly body?: unknown;
  /** Defaults to application/json. */
  readonly contentType?: string | undefined;
  /** Whether the call changes stored objects, and so must pass the guards. */
  readonly write: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Reads the body of a successful call. Defaults to reading all of it, up to the transport's limit. */
  readonly readBody?: ((response: TransportResponse) => Promise<string>) | undefined;
}

/** The maximum number of attempts of a call whose responses ask for a retry. */
const MAX_ATTEMPTS = 10;
/**
 * A read whose connection broke is repeated at most this often: once for an idle connection that had died, once more in
 * case the new one breaks too.
 */
const MAX_LOST_READS = 2;
/** Spreads the retries of a fleet whose members all received the same Retry-After. */
const RETRY_JITTER = 1.1;

/**
 * Caller sends a client's requests. It is the only place that honours `Retry-After`: a 429 or 503 that carries it is
 * followed by another attempt within the call's time limit; a read is repeated when its connection broke; a write that
 * the server may have processed is never repeated blindly.
 */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get transport(): Transport {
    return this.#options.transport;
  }

  /** wire measures time between machines. */
  get wire(): Clock {
    return this.#options.wire;
  }

  get log(): Log {
    return this.#options.log;
  }

  /** onLane returns the same caller on another lane. */
  onLane(lane: CallerOptions['lane']): Caller {
    return new Caller({ ...this.#options, lane });
  }

  /** as returns a caller with the identity of another transport: nothing is impersonated or checked. */
  as(transport: Transport): Caller {
    return new Caller({ ...this.#options, transport, impersonate: undefined, checks: [], lane: 'call' });
  }

  /** with returns the same caller with one more check or guard. Checks and guards are never removed. */
  with({ check, guard }: { readonly check?: RequestCheck; readonly guard?: WriteGuard }): Caller {
    const { checks, guards } = this.#options;
    return new Caller({
      ...this.#options,
      checks: check ? [...checks, check] : checks,
      guards: guard ? [...guards, guard] : guards,
    });
  }

  /** json makes a call and parses the response. */
  async json<T>(call: Call): Promise<T> {
    const { text } = await this.#attempts(call, this.#options.lane);
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new BowlineError(
        'BOWLINE_API_BAD_RESPONSE',
        `the response to ${call.method} ${call.apiRequest.path} is not JSON: check that the address is an API server`,
        { cause },
      );
    }
  }

  /** text makes a call and returns the body. */
  async text(call: Call): Promise<string> {
    const { text } = await this.#attempts(call, this.#options.lane);
    return text;
  }

  /** stream makes a call and returns the response once its headers report success. */
  async stream(call: Call): Promise<TransportResponse> {
    const { response } = await this.#attempts(call, 'watch');
    return response;
  }

  /** The text is that of the whole body. The body of a successful watch is not read here. */
  async #attempts(call: Call, lane: Lane): Promise<{ readonly response: TransportResponse; readonly text: string }> {
    const { clock, wire, metrics, checks, guards } = this.#options;
    for (const check of checks) check(call.apiRequest);
    const labels = this.#labels(call);
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    if (body !== undefined) metrics.requestSize.observe(Buffer.byteLength(body), labels);
    // Requests are timed on `wire` and pauses on `clock`. The limit applies to their sum, so the remaining time is
    // tracked.
    const limitMs = call.timeoutMs ?? this.#options.timeoutMs;
    let leftMs = limitMs;
    if (call.write) for (const { writeTimeoutMs } of guards) leftMs = Math.min(leftMs, writeTimeoutMs);
    // A guard limits the time of a write in flight. Before the write is sent it may wait for others as long as any
    // call.
    const waitMs = leftMs < limitMs ? limitMs - leftMs : undefined;
    let lost = 0;
    for (let attempt = 1; ; attempt++) {
      const startedAt = wire.monotonic();
      let response: TransportResponse;
      let text = '';
      try {
        response = await this.#send(call, lane, { timeoutMs: leftMs, waitMs }, body);
        if (response.status >= 300) text = await response.text();
        else if (lane !== 'watch') text = await (call.readBody?.(response) ?? response.text());
      } catch (error) {
        metrics.requests.add({ code: '<error>', method: call.method, host: labels.host });
        leftMs -= wire.monotonic() - startedAt;
        if (!isLostRead(call, error) || lost++ >= MAX_LOST_READS || leftMs <= 0) throw error;
        metrics.retries.add({ code: '<error>', verb: call.method, host: labels.host });
        continue;
      }
      const elapsedMs = wire.monotonic() - startedAt;
      leftMs -= elapsedMs;
      metrics.requests.add({ code: String(response.status), method: call.method, host: labels.host });
      metrics.duration.observe(elapsedMs / 1000, labels);
      if (lane !== 'watch') metrics.responseSize.observe(Buffer.byteLength(text), labels);
      this.#options.warnings.logOnce(response.headers.warning);
      if (response.status < 300) return { response, text };
      const error = apiError(call.apiRequest, response, text);
      const pauseMs = pauseBefore(error, this.#options.random);
      if (pauseMs === undefined || attempt >= MAX_ATTEMPTS || pauseMs >= leftMs) throw error;
      metrics.retries.add({ code: String(response.status), verb: call.method, host: labels.host });
      await clock.sleep(pauseMs, call.signal);
      leftMs -= pauseMs;
    }
  }

  #send(
    call: Call,
    lane: Lane,
    times: Pick<TransportRequest, 'timeoutMs' | 'waitMs'>,
    body: string | undefined,
  ): Promise<TransportResponse> {
    const { transport, userAgent, impersonate, guards } = this.#options;
    const headers: Record<string, string> = { accept: call.accept ?? 'application/json', 'user-agent': userAgent };
    if (body !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
    return transport.request({
      method: call.method,
      path: call.apiRequest.path,
      headers,
      lane,
      signal: call.signal,
      ...times,
      // Admission webhooks, which are what makes requests hang, differ between namespaces.
      flow: call.apiRequest.key?.namespace ?? call.apiRequest.namespace ?? '',
      impersonate,
      ...(body === undefined ? {} : { body }),
      ...(call.write && guards.length > 0 ? { beforeSend: () => assertAll(guards) } : {}),
    });
  }

  #labels(call: Call): { verb: string; host: string } {
    return { verb: call.method, host: this.#options.transport.host };
  }
}

function assertAll(guards: readonly WriteGuard[]): void {
  for (const guard of guards) guard.assertMayWrite();
}

function isLostRead(call: Call, error: unknown): boolean {
  return call.method === 'GET' && error instanceof TransportError && error.code === 'BOWLINE_TRANSPORT_CONNECTION_LOST';
}

/** pauseBefore returns how long the server asked to wait before another attempt; undefined when it did not ask. */
function pauseBefore(error: ApiError, random: Random): number | undefined {
  // Not 504: for a read at a resourceVersion that the server has not reached, the reader decides.
  if (error.retryAfterMs === undefined || (error.status !== 429 && error.status !== 503)) return undefined;
  return between(random, error.retryAfterMs, error.retryAfterMs * RETRY_JITTER);
}

function apiError(request: ApiRequest, response: TransportResponse, text: string): ApiError {
  const body = parseStatus(text);
  // Only the seconds form: API servers do not send dates here, and proxies that do mean minutes.
  const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
  return new ApiError({ request, status: response.status, body, retryAfterMs });
}

/** parseStatus parses a Status. It returns undefined for anything else, such as the error page of a proxy. */
export function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** isStatus distinguishes the API server's own error object from everything else. */
export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}
