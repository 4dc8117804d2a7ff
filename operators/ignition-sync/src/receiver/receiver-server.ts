import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { BowlineError, type Clock, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { sendJson } from '@bowline/runtime/access';
import type { ServerCertificate } from './certificate-folder.ts';
import { BodyBudget, MAX_BODY_BYTES, readBody } from './read-body.ts';
import type { WebhookHandler, WebhookResponse } from './webhook-handler.ts';

/** ReceiverServerOptions configures a server. */
export interface ReceiverServerOptions {
  readonly handler: WebhookHandler;
  readonly clock: Clock;
  readonly log: Log;
  /** Defaults to plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
}

const LIMITS = {
  headersTimeout: 10_000,
  // Longer than the time for a body, so that its sender gets a response.
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
};
const TLS = { minVersion: 'TLSv1.2', handshakeTimeout: 10_000 } as const;
const MAX_CONNECTIONS = 512;
const MAX_HEADERS = 100;
/** How much of an unwanted body is discarded, so that its sender can read the response. */
const DISCARDED_BYTES = 4 * MAX_BODY_BYTES;
/** DRAIN_MS is how long a stopping server waits for requests that it has begun to answer. */
export const DRAIN_MS = 10_000;

/** ReceiverServer serves a handler over HTTP or HTTPS. */
export class ReceiverServer {
  readonly #options: ReceiverServerOptions;
  readonly #server: Server | TlsServer;
  readonly #budget = new BodyBudget();
  readonly #active = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: ReceiverServerOptions) {
    const { certificate, log } = options;
    this.#options = options;
    this.#server = certificate ? createTlsServer({ ...LIMITS, ...TLS, ...certificate }) : createServer(LIMITS);
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.maxHeadersCount = MAX_HEADERS;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      const work = this.#answer(request, response);
      this.#active.add(work);
      void work.finally(() => this.#active.delete(work));
    };
    this.#server.on('request', onRequest);
    // Otherwise Node would invite every sender to send its body before the headers are checked.
    this.#server.on('checkContinue', onRequest);
    this.#server.on('tlsClientError', (error) =>
      log.debug('TLS handshake with a sender of webhooks failed', { error }),
    );
  }

  /** listen resolves with the port; rejects with BOWLINE_ADDRESS_* if the address cannot be bound. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause: NodeJS.ErrnoException) => {
        const code = cause.code === 'EADDRINUSE' ? 'BOWLINE_ADDRESS_IN_USE' : 'BOWLINE_ADDRESS_UNAVAILABLE';
        const problem = `cannot receive webhooks on ${host || 'all addresses'}, port ${port} (${cause.code}); choose another address with webhookReceiverHost and webhookReceiverPort`;
        reject(new BowlineError(code, problem, { cause, retryable: true }));
      });
      this.#server.listen({ port, ...(host ? { host } : {}) }, resolve);
    });
    this.#server.on('error', (error) =>
      this.#options.log.warn('the receiver could not accept a connection', { error }),
    );
    return (this.#server.address() as AddressInfo).port;
  }

  /** use replaces the certificate for new connections. */
  use(certificate: ServerCertificate): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext({ ...TLS, ...certificate });
  }

  /** run serves until the signal is aborted, and resolves when every request that was begun has ended. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    this.#isStopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    using _drain = this.#options.clock.setTimer(DRAIN_MS, () => this.#server.closeAllConnections());
    await Promise.allSettled(this.#active);
    this.#server.closeIdleConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { handler, clock } = this.#options;
    const { method = '', url = '', headers } = request;
    const isInvited = headers.expect === undefined;
    const answer = await handler.answer({
      method,
      url,
      headers,
      readBody: () => {
        const body = readBody(request, { clock, budget: this.#budget });
        if (!isInvited) inviteBody(request, response);
        return body;
      },
    });
    this.#send(request, response, answer);
  }

  #send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: WebhookResponse): void {
    if (!request.complete) discard(request);
    if (this.#isStopping || !request.complete) response.shouldKeepAlive = false;
    sendJson(response, status, body, headers);
  }
}

/** A body that is too large according to its headers is not invited. */
function inviteBody({ headers }: IncomingMessage, response: ServerResponse): void {
  if (!(Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES)) response.writeContinue();
}

function discard(request: IncomingMessage): void {
  let left = DISCARDED_BYTES;
  request.on('error', () => undefined);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
