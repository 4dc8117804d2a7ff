import { createServer, type Server } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { type ListenAddress, listenError } from '../operations/listen-address.ts';
import type { TlsMaterial } from './certificates/certificate-source.ts';
import { HttpProblem } from './http-problem.ts';
import { OpenSockets } from './open-sockets.ts';
import { refuse } from './send.ts';
import { LONGEST_REVIEW_MS, WebhookRequests } from './webhook-requests.ts';
import type { Route } from './webhook-route.ts';
import { type Site, type SiteOptions, sniOf } from './webhook-site.ts';

/** WebhookServerOptions says where to listen. */
export interface WebhookServerOptions {
  readonly listen: ListenAddress;
  /** What the user gave, for messages. */
  readonly address: string;
  readonly wire: Clock;
  readonly log: Log;
}

/**
 * The API server keeps idle connections for 90 s (measured with 1.35.8). It does not repeat a review whose connection the other side closed at
 * that moment, so ours must never be the side that closes first.
 */
const KEEP_ALIVE_MS = 150_000;
const LIMITS = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: 10_000,
  requestTimeout: LONGEST_REVIEW_MS,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
};
const TLS = { minVersion: 'TLSv1.2' } as const;
const MOST_CONNECTIONS = 1000;
/** What is drained of a body that nobody wants: less is pointless, the answer has left already. */
const UNWANTED_BODY_BYTES = 1024 * 1024;
/** After a site closed, how long it still answers: a request may be on its way. */
const LINGER_MS = 500;

/**
 * WebhookServer serves webhooks over HTTPS, by HTTP/1.1 alone: through a Service the API server speaks nothing else
 * (kubernetes#75791: a connection of HTTP/2 would tie all requests to one replica), and to a URL it takes what is offered.
 *
 * Several operators may have a site on it. Paths tell their requests apart, and the name that a caller asks for in its
 * handshake tells which operator's certificate it trusts.
 */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #server: Server;
  readonly #sockets: OpenSockets;
  readonly #sites = new Map<SiteOptions, WebhookRequests>();
  readonly #routes = new Map<string, { readonly route: Route; readonly requests: WebhookRequests }>();
  /** By the name in the handshake. */
  readonly #contexts = new Map<string, SecureContext>();
  readonly #over = new AbortController();
  #stopped: Promise<void> | undefined;

  private constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#server = createServer({
      ...LIMITS,
      ...TLS,
      // Without a context of that name the handshake goes on with the server's own, which has no certificate at first.
      SNICallback: (name, done) => done(null, this.#contexts.get(name.toLowerCase())),
    });
    this.#sockets = new OpenSockets(this.#server);
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('request', (request, response) => {
      const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
      const found = this.#routes.get(path);
      if (found) {
        void found.requests.handle(found.route, search, request, response);
        return;
      }
      const there = [...this.#routes.keys()].join(', ') || 'nothing';
      const problem = new HttpProblem(404, `there is no webhook at this path; there is ${there}`);
      refuse(request, response, problem, { close: this.isStopping, maxBodyBytes: UNWANTED_BODY_BYTES });
    });
    this.#server.on('tlsClientError', (error) =>
      options.log.debug('TLS handshake with a webhook caller failed', { error }),
    );
  }

  /** listen resolves when it listens; rejects with BOWLINE_ADDRESS_* when it cannot. */
  static async listen(options: WebhookServerOptions): Promise<WebhookServer> {
    const webhooks = new WebhookServer(options);
    const server = webhooks.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(options.address, 'webhookAddress', error)));
      server.listen({ port: options.listen.port, host: options.listen.host }, resolve);
    });
    // From here on it is a connection that could not be taken (no file descriptors left): the others go on.
    server.on('error', (error) => options.log.warn('webhook server could not take a connection', { error }));
    return webhooks;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** isStopping says whether its last site has closed: nothing can be opened on it any more. */
  get isStopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** conflict is why a site cannot be opened beside those that are there; undefined when it can. */
  conflict(site: Pick<SiteOptions, 'operator' | 'names' | 'routes'>): string | undefined {
    const names = new Set(site.names.map(sniOf));
    for (const other of this.#sites.keys()) {
      const name = other.names.find((each) => names.has(sniOf(each)));
      const both = `the operators ${other.operator} and ${site.operator}`;
      if (name !== undefined) {
        return `${both} are both reached at ${name}, where one certificate alone can be shown; give each a Service of its own, or an address of its own to listen on`;
      }
      const route = other.routes.find(({ path }) => site.routes.some((each) => each.path === path));
      if (route) return `${both} both have a webhook at ${route.path}; give one of them another path`;
    }
    return undefined;
  }

  /** open adds a site; throws BOWLINE_WEBHOOK_INVALID when it cannot be told apart from another. */
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
    // Who asks for no name, or for one that nobody has, gets the certificate for that, or else the first operator's.
    const sites = [...this.#sites.keys()];
    const unnamed = sites.find(({ names }) => names.some((name) => sniOf(name) === '')) ?? sites[0];
    if (site === unnamed) this.#server.setSecureContext(options);
  }

  async #close(site: SiteOptions, requests: WebhookRequests): Promise<void> {
    requests.closing = true;
    if ([...this.#sites.values()].every(({ closing }) => closing)) this.#stopped ??= this.#stop();
    await (this.#stopped ?? this.#leave(site, requests));
  }

  /** Ends one site of several. Its connections stay: another's requests may come over them. */
  async #leave(site: SiteOptions, requests: WebhookRequests): Promise<void> {
    const { wire } = this.#options;
    using _drain = wire.setTimer(Math.max(site.drainMs, LINGER_MS), () => requests.cut());
    // The others may close meanwhile, and the server with them.
    await wire.sleep(LINGER_MS, this.#over.signal).catch(() => undefined);
    this.#remove(site, requests);
    await requests.idle();
  }

  #remove(site: SiteOptions, requests: WebhookRequests): void {
    this.#sites.delete(site);
    for (const { path } of site.routes) this.#routes.delete(path);
    for (const name of site.names) this.#contexts.delete(sniOf(name));
    requests[Symbol.dispose]();
  }

  /** Takes no connection any more, lets requests under way and on their way be answered, then closes. */
  async #stop(): Promise<void> {
    const { wire } = this.#options;
    // The HTTP server's own close would cut idle connections at once.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    const drainMs = Math.max(LINGER_MS, ...[...this.#sites.keys()].map((site) => site.drainMs));
    // A connection that is answered from now on is closed with the answer; one that stays unused is cut.
    using _linger = wire.setTimer(LINGER_MS, () => this.#sockets.closeUnused());
    using _drain = wire.setTimer(drainMs, () => {
      for (const requests of this.#sites.values()) requests.cut();
      this.#sockets.closeAll();
    });
    await closed;
    // Only for its housekeeping: there is nothing left to close.
    this.#server.close(() => undefined);
    for (const [site, requests] of this.#sites) this.#remove(site, requests);
    this.#over.abort();
  }
}
