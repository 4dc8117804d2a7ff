import { type Clock, systemClock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { parseListenAddress } from '../operations/listen-address.ts';
import type { WebhookServer } from './webhook-server.ts';
import type { Site, SiteOptions } from './webhook-site.ts';

/** WebhookServersOptions holds the options common to all servers of a process. */
export interface WebhookServersOptions {
  /** The clock for timeouts. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/**
 * WebhookServers holds the listeners of a process: one per address, shared by all operators served there. A server
 * closes with its last operator.
 */
export class WebhookServers {
  readonly #wire: Clock;
  readonly #log: Log;
  #servers: readonly { readonly address: string; readonly server: WebhookServer }[] = [];
  #previousOpen: Promise<unknown> = Promise.resolve();

  constructor(options: WebhookServersOptions = {}) {
    this.#wire = options.wire ?? systemClock;
    this.#log = options.log ?? silentLog;
  }

  /**
   * open serves an operator at an address. Operators that callers cannot distinguish there are rejected, except with
   * port 0, which means any free port and may therefore be another one.
   */
  open(address: string, site: SiteOptions): Promise<Site> {
    // Sequentially: two concurrent calls must find each other's server.
    const opened = this.#previousOpen.then(() => this.#open(address, site));
    this.#previousOpen = opened.catch(() => undefined);
    return opened;
  }

  async #open(address: string, site: SiteOptions): Promise<Site> {
    const listen = parseListenAddress(address, 'webhookAddress');
    if (!listen) {
      throw new BowlineError(
        'BOWLINE_ADDRESS_INVALID',
        `cannot serve the webhooks of ${site.operator} without an address: set webhookAddress to host:port or :port`,
      );
    }
    const key = `${listen.host ?? ''}:${listen.port}`;
    this.#servers = this.#servers.filter(({ server }) => !server.isStopping);
    const candidates = this.#servers.filter((each) => each.address === key).map(({ server }) => server);
    const shared = candidates.find((server) => listen.port !== 0 || server.conflict(site) === undefined);
    if (shared) return shared.open(site);
    const { WebhookServer } = await import('./webhook-server.ts');
    const server = await WebhookServer.listen({ address, listen, wire: this.#wire, log: this.#log });
    this.#servers = [...this.#servers, { address: key, server }];
    return server.open(site);
  }
}
