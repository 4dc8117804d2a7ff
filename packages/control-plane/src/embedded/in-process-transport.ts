import { setMaxListeners } from 'node:events';
import type { Clock } from '@bowline/machinery';
import {
  type Credentials,
  impersonationHeaders,
  type RequestHeaders,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '@bowline/runtime/transport';
import type { ApiRequest, ApiResponse, ClientCertificate } from '../server/http/api-request.ts';
import { tooLarge } from '../server/status/api-status.ts';

/** InProcessOptions configures the server and the identity of the caller. */
export interface InProcessOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  /** Who calls: the name of a certificate, which is trusted, or credentials, which are verified. */
  readonly caller: ClientCertificate | Credentials;
  readonly wire: Clock;
}

const DEFAULT_TIMEOUT_MS = 30_000;

const SERVER_NAME = 'the embedded control plane in this process';

/** inProcessTransport sends requests to a server in the same process: no socket, no TLS, no copies. */
export function inProcessTransport(options: InProcessOptions): Transport {
  return new InProcessTransport(options);
}

class InProcessTransport implements Transport {
  readonly host = 'in-process';
  readonly #options: InProcessOptions;
  readonly #closed = new AbortController();

  constructor(options: InProcessOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closed.signal);
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { wire } = this.#options;
    const { signal } = request;
    signal?.throwIfAborted();
    if (this.#closed.signal.aborted) {
      throw new TransportError('BOWLINE_TRANSPORT_CLOSED', `the connection to ${SERVER_NAME} has been closed`, {
        retryable: false,
      });
    }
    const disconnected = new AbortController();
    const onAbort = (): void => disconnected.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#closed.signal.addEventListener('abort', onAbort, { once: true });
    const cleanUp = (): void => {
      signal?.removeEventListener('abort', onAbort);
      this.#closed.signal.removeEventListener('abort', onAbort);
    };
    let response: ApiResponse;
    try {
      response = await this.#exchange(request, disconnected.signal);
    } catch (error) {
      cleanUp();
      throw error;
    }
    const { status, body } = response;
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : value.join(', '),
      ]),
    );
    const aliveAt = (): number => wire.monotonic();
    if (typeof body === 'string' || body instanceof Uint8Array) {
      cleanUp();
      return {
        status,
        headers,
        aliveAt,
        body: once(typeof body === 'string' ? Buffer.from(body) : body),
        text: () => Promise.resolve(typeof body === 'string' ? body : Buffer.from(body).toString()),
      };
    }
    const chunks = this.#chunks(body, signal, cleanUp);
    return { status, headers, aliveAt, body: chunks, text: () => textOf(chunks) };
  }

  withCredentials(credentials: Credentials): Transport {
    return new InProcessTransport({ ...this.#options, caller: credentials });
  }

  close(): Promise<void> {
    this.#closed.abort();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** #exchange sends a request, and once again if it is rejected with 401 and its credentials have changed. */
  async #exchange(request: TransportRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { caller } = this.#options;
    if ('commonName' in caller) return await this.#send(request, {}, signal);
    const headers = await caller.headers();
    const response = await this.#send(request, headers, signal);
    if (response.status !== 401 || !(await caller.refresh({ headers, certificatePem: undefined }))) return response;
    return await this.#send(request, await caller.headers(), signal);
  }

  #send(request: TransportRequest, credentials: RequestHeaders, signal: AbortSignal): Promise<ApiResponse> {
    const { method, path, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(this.#connectionLostError(request.signal));
      if (signal.aborted) {
        onAbort();
        return;
      }
      request.beforeSend?.();
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = this.#options.wire.setTimer(timeoutMs, () => {
        const message = `${method} ${path}: ${SERVER_NAME} did not respond within ${timeoutMs} ms`;
        reject(new TransportError('BOWLINE_TRANSPORT_TIMEOUT', message, { mayHaveBeenProcessed: true }));
      });
      // In a turn of its own, as over a socket: a caller that sends one request after the other must not keep timers and
      // sockets of this process waiting.
      setImmediate(() => {
        this.#options
          .handle(this.#apiRequest(request, credentials, signal))
          .then(resolve, (error: unknown) => reject(this.#connectionLostError(request.signal, error)))
          .finally(() => timer[Symbol.dispose]());
      });
    });
  }

  #apiRequest(request: TransportRequest, credentials: RequestHeaders, signal: AbortSignal): ApiRequest {
    const { caller } = this.#options;
    const { method, path, body } = request;
    const lines: (readonly [string, string])[] = Object.entries(request.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    lines.push(...Object.entries(credentials));
    for (const [name, value] of Object.entries(request.impersonate ? impersonationHeaders(request.impersonate) : {})) {
      for (const each of [value].flat()) lines.push([name, each]);
    }
    return {
      method,
      url: path,
      headers: Object.fromEntries(lines),
      headerLines: () => lines,
      body: (limit) => bytesOf(body, limit),
      signal,
      connection: {
        remoteAddress: '127.0.0.1',
        isSecure: true,
        certificate: 'commonName' in caller ? caller : undefined,
      },
    };
  }

  async *#chunks(
    body: AsyncIterable<string>,
    signal: AbortSignal | undefined,
    cleanUp: () => void,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) yield Buffer.from(chunk);
    } catch (error) {
      throw this.#connectionLostError(signal, error);
    } finally {
      cleanUp();
    }
    signal?.throwIfAborted();
    if (this.#closed.signal.aborted) throw this.#connectionLostError(undefined);
  }

  #connectionLostError(signal: AbortSignal | undefined, cause?: unknown): Error {
    if (signal?.aborted) return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
    return new TransportError('BOWLINE_TRANSPORT_CONNECTION_LOST', `the connection to ${SERVER_NAME} was lost`, {
      cause,
      mayHaveBeenProcessed: true,
    });
  }
}

function bytesOf(body: TransportRequest['body'], limit: number): Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
  if (bytes.byteLength <= limit) return Promise.resolve(bytes);
  return Promise.reject(tooLarge(limit));
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(chunk);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}
