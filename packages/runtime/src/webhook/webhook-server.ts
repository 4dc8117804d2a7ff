import { createServer, type Server } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '@bowline/machinery';
import type { TlsMaterial } from '../certificates/certificate-source.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { type ListenAddress, listenError } from '../operations/listen-address.ts';
import { HttpProblem } from './http-problem.ts';
import { OpenSockets } from './open-sockets.ts';
import { refuse } from './send.ts';
import { MAX_REVIEW_MS, WebhookRequests } from './webhook-requests.ts';
import type { Route } from './webhook-route.ts';
import { type Site, type SiteOptions, sniOf } from './webhook-site.ts';

/** WebhookServerOptions configures where to listen. */
export interface WebhookServerOptions {
  readonly listen: ListenAddress;
  /** The address as configured, for messages. */
  readonly address: string;
  readonly wire: Clock;
  readonly log: Log;
}

/**
 * The API server keeps idle connections for 90 s (measured with 1.35.8). It does not retry a review whose connection
 * the server closed at that moment, so our side must never close first.
 */
const KEEP_ALIVE_MS = 150_000;
const LIMITS = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: 10_000,
  requestTimeout: MAX_REVIEW_MS,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
};
const TLS = { minVersion: 'TLSv1.2' } as const;
const MAX_CONNECTIONS = 1000;
/** How much of an unwanted body is drained: reading on is pointless because the response has been sent already. */
const UNWANTED_BODY_BYTES = 1024 * 1024;

/**
 * WebhookServer serves webhooks over HTTPS with HTTP/1.1 only: through a Service the API server uses nothing else
 * (kubernetes#75791: an HTTP/2 connection would tie all requests to one replica), and for a URL it uses what is
 * offered.
 *
 * Several operators may have a site on it. Requests are routed by path, and the server name in the TLS handshake
 * selects the operator's certificate.
 */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #server: Server;
  readonly #sockets: OpenSockets;
  readonly #sites = new Map<SiteOptions, WebhookRequests>();
  readonly #routes = new Map<string, { readonly route: Route; readonly requests: WebhookRequests }>();
  /** By server name in the TLS handshake. */
  readonly #contexts = new Map<string, SecureContext>();
  readonly #closed = new AbortController();
  #stopped: Promise<void> | undefined;

  private constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#server = createServer({
      ...LIMITS,
      ...TLS,
      // Without a context of that name the handshake continues with the server's own, which has no certificate at
      // first.
      SNICallback: (name, done) => done(null, this.#contexts.get(name.toLowerCase())),
    });
    this.#sockets = new OpenSockets(this.#server);
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('request', (request, response) => {
      const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
      const found = this.#routes.get(path);
      if (found) {
        void found.requests.handle(found.route, search, request, response);
        return;
      }
      const paths = [...this.#routes.keys()].join(', ') || 'nothing';
      const problem = new HttpProblem(404, `no webhook is served at this path; served are ${paths}`);
      refuse(request, response, problem, { close: this.isStopping, maxBodyBytes: UNWANTED_BODY_BYTES });
    });
    this.#server.on('tlsClientError', (error) =>
      options.log.debug('TLS handshake with a webhook caller failed', { error }),
    );
  }

  /** listen resolves when the server listens; rejects with BOWLINE_ADDRESS_* if it cannot. */
  static async listen(options: WebhookServerOptions): Promise<WebhookServer> {
    const webhooks = new WebhookServer(options);
    const server = webhooks.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(options.address, 'webhookAddress', error)));
      server.listen({ port: options.listen.port, host: options.listen.host }, resolve);
    });
    // From here on an error means that a connection could not be accepted (no file descriptors left): the others are
    // not affected.
    server.on('error', (error) => options.log.warn('webhook server could not accept a connection', { error }));
    return webhooks;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** isStopping returns whether its last site has closed: no site can be opened on it any more. */
  get isStopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** conflict returns why a site cannot be opened next to the existing ones, or undefined if it can. */
  conflict(site: Pick<SiteOptions, 'operator' | 'names' | 'routes'>): string | undefined {
    const names = new Set(site.names.map(sniOf));
    for (const other of this.#sites.keys()) {
      const name = other.names.find((each) => names.has(sniOf(each)));
      const both = `the operators ${other.operator} and ${site.operator}`;
      if (name !== undefined) {
        return `${both} are both called at ${name}, where only one certificate can be served; use a separate Service or listen address for each`;
      }
      const route = other.routes.find(({ path }) => site.routes.some((each) => each.path === path));
      if (route) return `${both} both have a webhook at ${route.path}; choose another path for one of them`;
    }
    return undefined;
  }

  /** open adds a site; throws BOWLINE_WEBHOOK_INVALID if it conflicts with another. */
  open(site: SiteOptions): Site {
    const conflict = this.conflict(site);
    if (conflict !== undefined) {
      throw new BowlineError(
        'BOWLINE_WEBHOOK_INVALID',
        `cannot serve webhooks on ${this.#options.address}: ${conflict}`,
      );
    }
    const requests = new WebhookRequests(site);
    this.#sites.set(site, requests);
    for (const route of site.routes) this.#routes.set(route.path, { route, requests });
    return {
      port: this.port,
      use: (certificate) => {
        this.#use(site, certificate);
        requests.ready = true;
      },
      close: () => this.#close(site, requests),
    };
  }

  #use(site: SiteOptions, { certificatePem, keyPem }: TlsMaterial): void {
    const options = { ...TLS, cert: certificatePem, key: keyPem };
    const context = createSecureContext(options);
    for (const name of site.names) this.#contexts.set(sniOf(name), context);
    // A caller without a server name, or with an unknown one, gets the certificate for IP addresses, or else that of
    // the first operator.
    const sites = [...this.#sites.keys()];
    const unnamed = sites.find(({ names }) => names.some((name) => sniOf(name) === '')) ?? sites[0];
    if (site === unnamed) this.#server.setSecureContext(options);
  }

  async #close(site: SiteOptions, requests: WebhookRequests): Promise<void> {
    requests.closing = true;
    if ([...this.#sites.values()].every(({ closing }) => closing)) this.#stopped ??= this.#stop();
    await (this.#stopped ?? this.#leave(site, requests));
  }

  /** #leave closes one of several sites. Its connections stay open: requests to other sites may use them. */
  async #leave(site: SiteOptions, requests: WebhookRequests): Promise<void> {
    const { wire } = this.#options;
    using _drain = wire.setTimer(Math.max(site.drainMs, site.lingerMs), () => requests.cancel());
    // The others may close meanwhile, and the server with them.
    await wire.sleep(site.lingerMs, this.#closed.signal).catch(() => undefined);
    this.#remove(site, requests);
    await requests.idle();
  }

  #remove(site: SiteOptions, requests: WebhookRequests): void {
    this.#sites.delete(site);
    for (const { path } of site.routes) this.#routes.delete(path);
    for (const name of site.names) this.#contexts.delete(sniOf(name));
    requests[Symbol.dispose]();
  }

  /** #stop accepts no more connections, completes requests that are active or in flight, then closes. */
  async #stop(): Promise<void> {
    const { wire } = this.#options;
    // The HTTP server's own close would cut idle connections immediately.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    const sites = [...this.#sites.keys()];
    const lingerMs = Math.max(0, ...sites.map((site) => site.lingerMs));
    const drainMs = Math.max(lingerMs, ...sites.map((site) => site.drainMs));
    // From now on a connection is closed with its next response; one that stays unused is cut.
    using _linger = wire.setTimer(lingerMs, () => this.#sockets.closeUnused());
    using _drain = wire.setTimer(drainMs, () => {
      for (const requests of this.#sites.values()) requests.cancel();
      this.#sockets.closeAll();
    });
    await closed;
    // Only for its cleanup: there is nothing left to close.
    this.#server.close(() => undefined);
    for (const [site, requests] of this.#sites) this.#remove(site, requests);
    this.#closed.abort();
  }
}
