import { readFile } from 'node:fs/promises';
import type { Clock } from '@bowline/machinery';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { networkProblem, retryAfterMs } from './http-problem.ts';

/** HttpResponse is the response of a store, whatever its status. */
export interface HttpResponse {
  readonly status: number;
  /** The body as received: numbers keep their digits. Never log it. */
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  readonly retryAfterMs: number | undefined;
}

/** HttpCall is one request to a store. */
export interface HttpCall {
  /** The store's name of the operation, for metrics and messages. */
  readonly operation: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body to post. Without one, the call is a GET. */
  readonly body?: { readonly json: unknown } | { readonly form: Readonly<Record<string, string>> } | undefined;
  /** Whether to bypass proxies: the other end is this machine or its host. Defaults to false. */
  readonly direct?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** JsonHttpOptions configures the calls. */
export interface JsonHttpOptions {
  readonly provider: string;
  /**
   * A file with the certificate authorities to trust instead of the system's. It is read again after a certificate was
   * not trusted.
   */
  readonly caFile?: string | undefined;
  /** The source of the proxy settings: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, also in lower case. */
  readonly env: ProviderContext<unknown>['env'];
  readonly clock: Clock;
  readonly observe: ProviderContext<unknown>['observe'];
  /** Ends all calls and closes the connections. */
  readonly signal: AbortSignal;
}

/** The maximum size of a response. A Secret holds 1 MiB; with JSON escapes it is larger. */
const MAX_BODY_BYTES = 2 * 2 ** 20;

/** The maximum number of concurrent connections per store; further calls wait. */
const MAX_CONNECTIONS = 16;

const CONNECT_LIMIT_MS = 10_000;

/**
 * JsonHttp makes calls to a store that speaks JSON over HTTP. A response of any status is returned; a call without a
 * response throws a ProviderError. Redirects are not followed, so that credentials are sent only to the configured
 * address.
 */
export class JsonHttp {
  readonly #options: JsonHttpOptions;
  #agents: { readonly direct: Dispatcher; readonly proxied: Dispatcher } | undefined;

  constructor(options: JsonHttpOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#dropAgents(), { once: true });
  }

  async call(call: HttpCall): Promise<HttpResponse> {
    const { clock, observe } = this.#options;
    const startedAt = clock.monotonic();
    const report = (code: string): void =>
      observe({ operation: call.operation, code, ms: clock.monotonic() - startedAt });
    try {
      const response = await this.#send(call);
      report(response.status < 300 ? 'OK' : String(response.status));
      return response;
    } catch (error) {
      call.signal.throwIfAborted();
      this.#options.signal.throwIfAborted();
      const problem = error instanceof ProviderError ? error : this.#problemOf(error, call);
      report(problem.code);
      throw problem;
    }
  }

  async #send(call: HttpCall): Promise<HttpResponse> {
    const { direct, proxied } = await this.#getAgents(call);
    const { body, type } = encoded(call.body);
    const response = await request(call.url, {
      dispatcher: call.direct ? direct : proxied,
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', ...(type === undefined ? {} : { 'content-type': type }), ...call.headers },
      body: body ?? null,
      signal: call.signal,
    });
    if (response.statusCode >= 300 && response.statusCode < 400) {
      await response.body.dump();
      throw this.#refusal(
        call,
        String(response.statusCode),
        `${call.url.origin} redirects to another address, and credentials are sent only to the configured address: configure the final address`,
      );
    }
    const text = await this.#textOf(response.body, call);
    return {
      status: response.statusCode,
      text,
      json: parsed(text),
      retryAfterMs: retryAfterMs(response.headers['retry-after'], this.#options.clock),
    };
  }

  async #textOf(body: Dispatcher.ResponseData['body'], call: HttpCall): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      // Leaving the loop ends the request.
      if (size > MAX_BODY_BYTES) {
        throw this.#refusal(
          call,
          'TooLarge',
          `the response of ${call.url.origin} has more than ${MAX_BODY_BYTES} bytes`,
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  #refusal({ operation }: HttpCall, code: string, message: string): ProviderError {
    return new ProviderError(message, { kind: 'refused', provider: this.#options.provider, operation, code });
  }

  #problemOf(error: unknown, { operation, url }: HttpCall): ProviderError {
    const { problem, isUntrusted } = networkProblem(error, { provider: this.#options.provider, operation, url });
    // The file with the certificate authorities may have been replaced since it was read.
    if (isUntrusted) this.#dropAgents();
    return problem;
  }

  async #getAgents(call: HttpCall): Promise<{ readonly direct: Dispatcher; readonly proxied: Dispatcher }> {
    if (this.#agents) return this.#agents;
    const { caFile, env, signal } = this.#options;
    const ca = caFile === undefined ? undefined : await this.#readAuthorities(caFile, call);
    signal.throwIfAborted();
    if (this.#agents) return this.#agents;
    // The caller's signal is the time limit of a call. undici's own limit, on another clock, only frees connections
    // that no caller waits for.
    const connect = { ca, timeout: CONNECT_LIMIT_MS };
    const options = { connections: MAX_CONNECTIONS, connect, headersTimeout: 0, bodyTimeout: 0 };
    const proxied = new EnvHttpProxyAgent({
      ...options,
      requestTls: { ca },
      httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
      httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
      noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    });
    this.#agents = { direct: new Agent(options), proxied };
    return this.#agents;
  }

  async #readAuthorities(caFile: string, call: HttpCall): Promise<string> {
    try {
      return await readFile(caFile, 'utf8');
    } catch {
      throw this.#refusal(
        call,
        'NoAuthorities',
        `cannot read the certificate authorities in ${caFile}: mount the file, or correct caFile`,
      );
    }
  }

  #dropAgents(): void {
    const agents = this.#agents;
    this.#agents = undefined;
    // Calls in progress are allowed to finish.
    const close = this.#options.signal.aborted ? 'destroy' : 'close';
    for (const agent of agents ? [agents.direct, agents.proxied] : []) agent[close]().catch(() => {});
  }
}

function encoded(body: HttpCall['body']): { readonly body?: string; readonly type?: string } {
  if (body === undefined) return {};
  if ('json' in body) return { body: JSON.stringify(body.json), type: 'application/json' };
  return { body: new URLSearchParams(body.form).toString(), type: 'application/x-www-form-urlencoded' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
