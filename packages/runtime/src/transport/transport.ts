import type { Impersonation } from './connection-config.ts';

/**
 * Lane separates what must not wait for each other: kube-apiserver allows 100 streams per connection, so long watches
 * would starve calls, and a burst of calls would starve the lease renewal.
 */
export type Lane = 'call' | 'watch' | 'lease';

/** TransportRequest is one HTTP request to the API server. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly lane: Lane;
  readonly signal?: AbortSignal | undefined;
  /** Time until the response headers; for lanes other than `watch` also until the end of the body. Defaults to the transport's. */
  readonly timeoutMs?: number | undefined;
  /**
   * What may hang together, such as a namespace: requests of one flow never hold more than half of the slots that calls share.
   * Defaults to no flow, which has all of them.
   */
  readonly flow?: string | undefined;
  /**
   * Lets it wait for a slot while other flows hold all of them without that its own time passes: for this long beyond `timeoutMs`.
   * Defaults to none: that wait counts in `timeoutMs`, as the one for the flow's own slots always does.
   */
  readonly waitMs?: number | undefined;
  /**
   * Called synchronously each time just before the request is handed to the network, after any wait for a free slot.
   * Throwing refuses the request: this is where a lost lease stops a write.
   */
  readonly beforeSend?: (() => void) | undefined;
  /** Whose identity the request takes on, instead of the connection's. Defaults to the connection's. */
  readonly impersonate?: Impersonation | undefined;
}

/** TransportResponse is the answer; its body must be read to the end or cancelled by the request's signal. */
export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives, with back-pressure: chunks that are not taken are not read from the socket. */
  readonly body: AsyncIterable<Uint8Array>;
  /** text reads the whole body, at most the transport's limit. */
  text(): Promise<string>;
  /** aliveAt is the wire clock's monotonic time at which the connection last showed life: bytes or an answered PING. */
  aliveAt(): number;
}

/** Transport carries requests to one API server. Network failures reject with BOWLINE_TRANSPORT_* errors. */
export interface Transport extends AsyncDisposable {
  /** The server's host and port, the label of request metrics. */
  readonly host: string;
  request(request: TransportRequest): Promise<TransportResponse>;
  /** close ends every connection; requests under way reject. */
  close(): Promise<void>;
}
