import { BowlineError } from '../errors/bowline-error.ts';

/** TransportErrorCode lists every way a request can fail before the API server responds to it. */
export type TransportErrorCode =
  | 'BOWLINE_TRANSPORT_CLOSED'
  | 'BOWLINE_TRANSPORT_CONNECTION_LOST'
  | 'BOWLINE_TRANSPORT_CONNECT_TIMEOUT'
  | 'BOWLINE_TRANSPORT_PROXY'
  | 'BOWLINE_TRANSPORT_REFUSED'
  | 'BOWLINE_TRANSPORT_RESPONSE_TOO_LARGE'
  | 'BOWLINE_TRANSPORT_TIMEOUT'
  | 'BOWLINE_TRANSPORT_TLS'
  | 'BOWLINE_TRANSPORT_TLS_EXPIRED'
  | 'BOWLINE_TRANSPORT_TLS_HOST_NAME'
  | 'BOWLINE_TRANSPORT_TLS_UNTRUSTED'
  | 'BOWLINE_TRANSPORT_UNREACHABLE'
  | 'BOWLINE_TRANSPORT_WATCH_LIMIT';

/** TransportErrorOptions holds the details of a transport failure. */
export interface TransportErrorOptions {
  readonly cause?: unknown;
  /** Whether the server may have processed the request. Defaults to false. */
  readonly mayHaveBeenProcessed?: boolean;
  /** Defaults to true because networks recover. */
  readonly retryable?: boolean;
}

/** TransportError reports a request that got no response. */
export class TransportError extends BowlineError {
  /** False only if the server certainly did not process the request, so that any request is safe to retry. */
  readonly mayHaveBeenProcessed: boolean;

  constructor(code: TransportErrorCode, message: string, options: TransportErrorOptions = {}) {
    super(code, message, { cause: options.cause, retryable: options.retryable ?? true });
    this.name = 'TransportError';
    this.mayHaveBeenProcessed = options.mayHaveBeenProcessed ?? false;
  }
}

/** errorCodeOf returns the `code` of a Node error, or an empty string. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

const UNTRUSTED = new Set([
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const UNREACHABLE: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'the address cannot be used from here',
  EAI_AGAIN: 'the name server does not respond',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the host name is unknown',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
};

/** Endpoint identifies a connection in messages. */
export interface Endpoint {
  /** `https://host:port`. */
  readonly server: string;
  /** The origin of the address. */
  readonly source: string;
}

/** connectError returns the error for a connection that could not be established: why, and how to fix it. */
export function connectError(cause: unknown, endpoint: Endpoint): TransportError {
  if (cause instanceof TransportError) return cause;
  // Connecting to a host name with several addresses fails with an AggregateError that has the code of one of them.
  const code = errorCodeOf(cause);
  const at = `${endpoint.server} (${endpoint.source})`;
  if (UNTRUSTED.has(code)) {
    return new TransportError(
      'BOWLINE_TRANSPORT_TLS_UNTRUSTED',
      `the certificate of ${at} is not signed by the certificate authority that is configured for it (${code}): check certificate-authority of the cluster entry, or that the address is the right server`,
      { cause, retryable: false },
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return new TransportError(
      'BOWLINE_TRANSPORT_TLS_EXPIRED',
      `the certificate of ${at} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}: renew the server's certificate, or check this machine's clock`,
      { cause, retryable: false },
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new TransportError(
      'BOWLINE_TRANSPORT_TLS_HOST_NAME',
      `the certificate of ${at} is not valid for this host name: use a host name from the certificate in server, or set tls-server-name of the cluster entry to one`,
      { cause, retryable: false },
    );
  }
  const network = UNREACHABLE[code];
  if (network !== undefined) {
    return new TransportError(
      'BOWLINE_TRANSPORT_UNREACHABLE',
      `cannot connect to ${at}: ${network} (${code}); check that the API server runs and that server of the cluster entry is its address`,
      { cause },
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code.startsWith('ERR_OSSL_')) {
    return new TransportError(
      'BOWLINE_TRANSPORT_TLS',
      `the TLS handshake with ${at} failed (${code}): check that the server speaks TLS and accepts the client certificate`,
      { cause, retryable: false },
    );
  }
  return new TransportError(
    'BOWLINE_TRANSPORT_UNREACHABLE',
    `cannot connect to ${at}${code === '' ? '' : ` (${code})`}; check that the API server runs and that server of the cluster entry is its address`,
    { cause },
  );
}

/** lostError returns the error for a connection that broke while a request was active. */
export function lostError(endpoint: Endpoint, reason: string, cause?: unknown): TransportError {
  return new TransportError(
    'BOWLINE_TRANSPORT_CONNECTION_LOST',
    `the connection to ${endpoint.server} was lost: ${reason}`,
    {
      cause,
      mayHaveBeenProcessed: true,
    },
  );
}
