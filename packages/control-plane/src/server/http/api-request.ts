import type { RequestInfo } from './request-info.ts';

/** ApiRequest is a request as it arrives, over a socket or from the same process. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** headerLines returns the headers as received: a duplicate header is included twice. Defaults to `headers`. */
  readonly headerLines?: (() => (readonly [name: string, value: string])[]) | undefined;
  /** body reads at most `limit` bytes; it rejects with a StatusError if there are more. */
  readonly body: (limit: number) => Promise<Uint8Array>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** What the connection proves about the client. */
  readonly connection: ApiConnection;
}

/** ApiConnection holds what is known about the client, independent of what it sends. */
export interface ApiConnection {
  readonly remoteAddress: string;
  /** Whether the connection is protected against reading and modification in transit. */
  readonly isSecure: boolean;
  /** The client certificate, if one was sent and verified. */
  readonly certificate?: ClientCertificate | undefined;
  /** Whether a certificate was sent that no trusted authority signed. Defaults to false. */
  readonly hasInvalidCertificate?: boolean | undefined;
}

/** ClientCertificate holds the identity in a verified certificate. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint?: string | undefined;
}

/** ApiResponse is the response to a request. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A stream ends when the request's signal is aborted; unread chunks are queued, within limits. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** Route handles requests about the server itself, not about objects. It returns undefined for a request that it does not handle. */
export type Route = (
  info: RequestInfo,
  request: ApiRequest,
  query: URLSearchParams,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;
