import { type Clock, systemClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { GatewayError, statusError } from './gateway-error.ts';
import { readApiKey } from './read-api-key.ts';
import {
  type GatewayRequest,
  type GatewayResponse,
  MAX_RESPONSE_BYTES,
  sendRequest,
  TOO_LARGE,
} from './send-request.ts';

/** GatewayOptions configures how the gateway of a pod is called. */
export interface GatewayOptions {
  /** The port of the gateway on 127.0.0.1. */
  readonly port: number;
  /** Whether the gateway serves HTTPS on this port. Defaults to true. */
  readonly tls?: boolean | undefined;
  /** The file with the API key. It is read for every use. */
  readonly apiKeyFile: string;
  /** For delays between attempts and checks. Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** For the timeouts of requests. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no log. */
  readonly log?: Log | undefined;
}

/** CallOptions configures one call. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Whether a call without a response, or with 5xx, is repeated. Defaults to true. */
  readonly retry?: boolean | undefined;
}

/** TIMEOUT_MS is the maximum duration of one attempt. */
export const TIMEOUT_MS = 10_000;
/** The delays between attempts. */
const DELAYS_MS: readonly number[] = [2_000, 4_000];

/** GatewayCalls sends requests to the gateway, and repeats those that may succeed later. */
export class GatewayCalls {
  readonly clock: Clock;
  readonly log: Log;
  readonly #options: GatewayOptions;
  readonly #wire: Clock;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.#wire = options.wire ?? systemClock;
    this.log = options.log ?? silentLog;
  }

  /** call returns a response with a status of 2xx. It rejects with a GatewayError otherwise. */
  async call(request: GatewayRequest, { signal, retry = true }: CallOptions): Promise<GatewayResponse> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(request, signal);
      if (!(result instanceof GatewayError)) return result;
      const delayMs = retry && result.retryable ? DELAYS_MS[attempt - 1] : undefined;
      if (delayMs === undefined) throw result;
      this.log.debug('a call of the gateway failed and is repeated', { reason: result.message, attempt: attempt + 1 });
      await this.clock.sleep(delayMs, signal);
    }
  }

  /** callKnown is `call`, but returns undefined for 404: not every version of the gateway has the endpoint. */
  async callKnown(request: GatewayRequest, options: CallOptions): Promise<GatewayResponse | undefined> {
    try {
      return await this.call(request, options);
    } catch (error) {
      if (error instanceof GatewayError && error.problem === 'notFound') return undefined;
      throw error;
    }
  }

  /** readJson returns the value in the body of a response. It throws a GatewayError if it is not JSON. */
  readJson(request: GatewayRequest, { text, status }: GatewayResponse): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.invalidResponse(request, 'is not JSON', status);
    }
  }

  /** invalidResponse returns the error for a response that cannot be understood. */
  invalidResponse(request: GatewayRequest, problem: string, status?: number): GatewayError {
    const remedy = 'check that the port is that of an Ignition gateway, version 8.3 or later';
    return new GatewayError(
      'invalidResponse',
      `cannot ${this.#describe(request)}: the response ${problem}; ${remedy}`,
      status,
    );
  }

  async #attempt(request: GatewayRequest, signal: AbortSignal): Promise<GatewayResponse | GatewayError> {
    signal.throwIfAborted();
    const { port, tls = true, apiKeyFile } = this.#options;
    const apiKey = request.isAuthenticated === false ? undefined : await readApiKey(apiKeyFile);
    try {
      const options = { port, tls, apiKey, timeoutMs: TIMEOUT_MS, wire: this.#wire, signal };
      const response = await sendRequest(request, options);
      if (response.status >= 200 && response.status < 300) return response;
      return statusError(this.#describe(request), response.status);
    } catch (error) {
      signal.throwIfAborted();
      return this.#connectionError(request, error);
    }
  }

  /** The error itself is not kept: the errors of Node's HTTP parser contain what was received. */
  #connectionError(request: GatewayRequest, error: unknown): GatewayError {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === TOO_LARGE) return this.invalidResponse(request, `has more than ${MAX_RESPONSE_BYTES} bytes`);
    const { tls = true } = this.#options;
    const remedy = `check that the gateway runs and serves ${tls ? 'HTTPS' : 'HTTP'} on this port (gateway.port, gateway.tls)`;
    return new GatewayError('unreachable', `cannot ${this.#describe(request)} (${code}); ${remedy}`);
  }

  #describe({ method, path }: GatewayRequest): string {
    return `${method} ${path} of the gateway on port ${this.#options.port}`;
  }
}
