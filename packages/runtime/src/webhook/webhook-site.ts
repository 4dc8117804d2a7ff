import { isIP } from 'node:net';
import type { TlsMaterial } from '../certificates/certificate-source.ts';
import type { WebhookRequestsOptions } from './webhook-requests.ts';

/** SiteOptions configures what one operator serves. */
export interface SiteOptions extends WebhookRequestsOptions {
  readonly operator: string;
  /**
   * The names by which the API server calls it: host names and IP addresses. They select the certificate in the
   * handshake.
   */
  readonly names: readonly string[];
  /** How long a closed site still serves requests, because one may be in flight. */
  readonly lingerMs: number;
  /** How long active reviews may take once the site closes. */
  readonly drainMs: number;
}

/** Site holds one operator's webhooks on a server, which it may share with others. */
export interface Site {
  /** The listening port. */
  readonly port: number;
  /**
   * use serves a certificate from the next handshake on; open connections stay open. Before the first certificate, no
   * handshake for the site's names succeeds and no request is served.
   */
  use(certificate: TlsMaterial): void;
  /**
   * close completes active requests and requests in flight, and serves nothing after. It resolves when that is done;
   * the last site of a server also closes the server and every socket.
   */
  close(): Promise<void>;
}

/**
 * sniOf returns the server name that a TLS handshake carries for a name: callers send a host name, but nothing (here
 * the empty string) for an IP address (RFC 6066, section 3), so a server cannot distinguish two addresses.
 */
export function sniOf(name: string): string {
  return isIP(name) === 0 ? name.toLowerCase() : '';
}
