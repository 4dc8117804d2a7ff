import type { RequestInfo } from './request-info.ts';

/** ApiRequest is a request as it arrives, over a socket or from the same process. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** headerLines are the headers as they came: one that stood twice is there twice. Defaults to `headers`. */
  readonly headerLines?: (() => (readonly [name: string, value: string])[]) | undefined;
  /** body reads at most `limit` bytes; rejects with a StatusError when there are more. */
  readonly body: (limit: number) => Promise<Uint8Array>;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** What the connection proves. */
  readonly connection: ApiConnection;
}

/** ApiConnection is what is known of the other side, whatever it says. */
export interface ApiConnection {
  readonly remoteAddress: string;
  /** Whether what is said cannot be read or changed on the way. */
  readonly isSecure: boolean;
  /** The client certificate, if one was shown and verified. */
  readonly certificate?: ClientCertificate | undefined;
  /** Whether a certificate was shown that nobody trusted vouches for. Defaults to false. */
  readonly hasInvalidCertificate?: boolean | undefined;
}

/** ClientCertificate is what a verified certificate says of its holder. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint?: string | undefined;
}

/** ApiResponse is an answer. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A stream ends when the request's signal is aborted; what is not taken from it waits, within bounds. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** Route handles requests about the server itself, not about objects. It returns undefined for a request that it does not handle. */
export type Route = (
  info: RequestInfo,
  request: ApiRequest,
  query: URLSearchParams,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;
