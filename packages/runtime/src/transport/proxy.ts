import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type Endpoint, errorCodeOf, TransportError } from './transport-error.ts';

/** ProxyOptions configures the proxy and the host to reach through it. */
export interface ProxyOptions {
  readonly proxyUrl: string;
  readonly host: string;
  readonly port: number;
  readonly endpoint: Endpoint;
  /** Called with every socket, so that the caller can destroy it. */
  readonly opened: (socket: Socket) => void;
}

/**
 * connectThroughProxy requests a tunnel from an HTTP proxy and returns its socket. User and password come from the URL.
 */
export function connectThroughProxy(options: ProxyOptions): Promise<Socket> {
  const proxy = new URL(options.proxyUrl);
  const displayedUrl = `${proxy.protocol}//${proxy.host}`;
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') {
    return Promise.reject(
      new TransportError(
        'BOWLINE_TRANSPORT_PROXY',
        `proxy-url ${displayedUrl} of ${options.endpoint.source} is not supported: only http:// and https:// proxies are`,
        { retryable: false },
      ),
    );
  }
  const target = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
  const headers: Record<string, string> = { host: target };
  if (proxy.username !== '') {
    const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    headers['proxy-authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
      path: target,
      headers,
      agent: false,
    });
    request.on('socket', options.opened);
    request.on('connect', (response, socket) => {
      if (response.statusCode === 200) {
        resolve(socket);
        return;
      }
      socket.destroy();
      const advice =
        response.statusCode === 407
          ? 'set user and password in proxy-url'
          : 'check that the proxy may reach the server';
      reject(
        new TransportError(
          'BOWLINE_TRANSPORT_PROXY',
          `the proxy ${displayedUrl} refused a tunnel to ${target} with status ${response.statusCode ?? 0}: ${advice}`,
        ),
      );
    });
    request.on('error', (cause) => {
      reject(
        new TransportError(
          'BOWLINE_TRANSPORT_PROXY',
          `cannot reach ${options.endpoint.server} through the proxy ${displayedUrl} (${errorCodeOf(cause)}): check proxy-url of ${options.endpoint.source}`,
          { cause },
        ),
      );
    });
    request.end();
  });
}
