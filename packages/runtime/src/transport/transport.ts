import type { Credentials, Impersonation } from './connection-config.ts';

/**
 * Lane keeps kinds of requests on separate connections: kube-apiserver allows 100 streams per connection, so long
 * watches would starve calls, and a burst of calls would starve the lease renewal.
 */
export type Lane = 'call' | 'watch' | 'lease';

/** TransportRequest is one HTTP request to the API server. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, starting with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly lane: Lane;
  readonly signal?: AbortSignal | undefined;
  /**
   * The timeout for the response headers, and for lanes other than `watch` also for the whole body. Defaults to the
   * transport's timeout.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Groups requests that may hang together, such as those to one namespace: the requests of one flow never hold more
   * than half of the slots that all calls share. Defaults to no flow, which may use all slots.
   */
  readonly flow?: string | undefined;
  /**
   * The additional time the request may wait for a slot while other flows hold all of them; such a wait does not count
   * against `timeoutMs`. Defaults to none: the wait counts against `timeoutMs`, as the wait for the flow's own slots
   * always does.
   */
  readonly waitMs?: number | undefined;
  /**
   * Called synchronously each time just before the request is written to the network, after any wait for a slot.
   * Throwing rejects the request: this is how a lost lease stops a write.
   */
  readonly beforeSend?: (() => void) | undefined;
  /** The identity to impersonate. Defaults to that of the connection. */
  readonly impersonate?: Impersonation | undefined;
}

/** TransportResponse is the response; its body must be read to the end or cancelled with the request's signal. */
export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives, with back-pressure: chunks are read from the socket only when they are consumed. */
  readonly body: AsyncIterable<Uint8Array>;
  /** text reads the whole body, up to the transport's limit. */
  text(): Promise<string>;
  /**
   * aliveAt returns the monotonic time of the wire clock at which the connection was last active: bytes received or a
   * PING acknowledged.
   */
  aliveAt(): number;
}

/** Transport sends requests to one API server. Network failures reject with BOWLINE_TRANSPORT_* errors. */
export interface Transport extends AsyncDisposable {
  /** The server's host and port, used as a label of request metrics. */
  readonly host: string;
  request(request: TransportRequest): Promise<TransportResponse>;
  /**
   * withCredentials returns a transport to the same server with other credentials: the same address, CA, proxy and
   * limits, but connections of its own, and neither the credentials nor the impersonation of this one. Close it
   * separately. Absent if the transport does not support it.
   */
  withCredentials?(credentials: Credentials): Transport;
  /** close closes every connection; active requests reject. */
  close(): Promise<void>;
}
