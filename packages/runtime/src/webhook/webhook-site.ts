import { isIP } from 'node:net';
import type { TlsMaterial } from './certificates/certificate-source.ts';
import type { WebhookRequestsOptions } from './webhook-requests.ts';

/** SiteOptions is what one operator serves. */
export interface SiteOptions extends WebhookRequestsOptions {
  readonly operator: string;
  /** What the API server calls it by: host names and IP addresses. They tell whose certificate a caller wants. */
  readonly names: readonly string[];
  /** How long reviews under way may take once it closes. */
  readonly drainMs: number;
}

/** Site is one operator's webhooks on a server, which it may share with others. */
export interface Site {
  /** The port that is listened on. */
  readonly port: number;
  /**
   * use serves a certificate from the next handshake on; connections that are open stay open. Before the first, no handshake
   * for the site's names succeeds and no request is answered.
   */
  use(certificate: TlsMaterial): void;
  /**
   * close answers what is under way and on its way, and nothing after. Settles when that is done; the last site of a server
   * also closes the server and every socket.
   */
  close(): Promise<void>;
}

/**
 * sniOf is what a TLS handshake carries for a name: callers send a host name, but nothing (here the empty text) for an IP address
 * (RFC 6066, 3), so a server can tell no two addresses apart.
 */
export function sniOf(name: string): string {
  return isIP(name) === 0 ? name.toLowerCase() : '';
}
