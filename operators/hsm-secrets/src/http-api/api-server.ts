import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { untilAborted } from '@bowline/machinery';
import { sendJson } from '@bowline/runtime/access';
import { listen } from '../processes/listen.ts';
import { answerRequest } from './answer-request.ts';
import type { ApiResult, ApiTools } from './api-call.ts';
import { ApiProblem, problemOf } from './api-problem.ts';
import { MAX_BODY_BYTES } from './read-body.ts';

/** MAX_REQUESTS is the maximum number of requests that are answered at the same time. */
export const MAX_REQUESTS = 64;
const MAX_CONNECTIONS = 512;
/** Longer than the time for a body, so that its caller gets a response. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  handshakeTimeout: 10_000,
  // Tokens are in headers.
  maxHeaderSize: 32 * 1024,
};
const TLS = { minVersion: 'TLSv1.3' } as const;

/** ServerCertificate is the certificate of the server, in PEM format. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** ApiServer answers the requests of the API over HTTPS. */
export class ApiServer {
  readonly #tools: ApiTools;
  readonly #server: Server;
  readonly #stopped = new AbortController();
  readonly #active = new Set<Promise<void>>();

  constructor(tools: ApiTools, certificate: ServerCertificate) {
    this.#tools = tools;
    this.#server = createServer({ ...LIMITS, ...TLS, ...certificate }, (request, response) => {
      const work = this.#answer(request, response);
      this.#active.add(work);
      void work.finally(() => this.#active.delete(work));
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('tlsClientError', (error) => tools.log.debug('TLS handshake with an API caller failed', { error }));
  }

  /** listen resolves with the port when the server listens; rejects with BOWLINE_ADDRESS_* if it cannot. */
  async listen(address: string): Promise<number> {
    await listen(this.#server, { address, flag: 'api.address' });
    this.#server.on('error', (error) => this.#tools.log.warn('the API could not accept a connection', { error }));
    return (this.#server.address() as AddressInfo).port;
  }

  /** use replaces the certificate for new connections. */
  use(certificate: ServerCertificate): void {
    this.#server.setSecureContext({ ...TLS, ...certificate });
  }

  /** run serves until the signal is aborted, and resolves when every request has ended. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#stopped.abort();
    await Promise.allSettled(this.#active);
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#active.size >= MAX_REQUESTS) {
      const message = `${MAX_REQUESTS} requests are being answered already; retry later`;
      refuse(request, response, new ApiProblem(429, 'too_many', message, { retryAfterSeconds: 1 }));
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      const result = await answerRequest(request, this.#tools, { stopped: this.#stopped.signal, gone: gone.signal });
      sendJson(response, result.status ?? 200, success(result));
    } catch (error) {
      refuse(request, response, this.#problem(error, request));
    }
  }

  #problem(error: unknown, { method }: IncomingMessage): ApiProblem {
    const isRead = method === 'GET';
    const known = problemOf(error, isRead);
    if (known) return known;
    if (this.#stopped.signal.aborted)
      return new ApiProblem(503, 'hsm_unavailable', 'the manager is stopping; retry', { retryAfterSeconds: 1 });
    // Its message might quote a value.
    const name = error instanceof Error ? error.name : typeof error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    this.#tools.log.error('a request of the API failed unexpectedly', { method, errorName: name, errorCode: code });
    const message = `the request failed unexpectedly (${code ?? name}); see the log of the manager`;
    return new ApiProblem(500, isRead ? 'hsm_read_error' : 'hsm_write_error', message);
  }
}

function success({ message, data }: ApiResult): unknown {
  return { success: true, message, data };
}

/** refuse responds with a problem. What remains of the body is discarded, so that the caller can read the response. */
function refuse(request: IncomingMessage, response: ServerResponse, problem: ApiProblem): void {
  if (!request.complete) {
    let left = 4 * MAX_BODY_BYTES;
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) request.destroy();
    });
  }
  const { status, code, message, details, retryAfterSeconds, allow } = problem;
  sendJson(
    response,
    status,
    { success: false, message, error: { code, message, details } },
    {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(allow ? { allow: allow.join(', ') } : {}),
    },
  );
}
