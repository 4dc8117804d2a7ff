/**
 * CallFailure reports a webhook that could not be called or returned an invalid response. Its message is shown to the
 * client that made the write.
 */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
}

interface NetworkError extends Error {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  /** Set for a certificate that was issued for other names. */
  readonly cert?: { readonly subjectaltname?: string };
  readonly host?: string;
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** networkFailure returns the message for a network error, worded as the API server does. */
export function networkFailure(error: unknown): string {
  const { code = '', address = '', port = 0, hostname = '', message, cert, host } = error as NetworkError;
  const where = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  const certificate = (problem: string): string => `tls: failed to verify certificate: x509: ${problem}`;
  if (UNKNOWN_AUTHORITY.has(code)) return certificate('certificate signed by unknown authority');
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${where}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `dial tcp ${where}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${where}: connect: network is unreachable`;
    case 'ETIMEDOUT':
      return `dial tcp ${where}: connect: connection timed out`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ECONNRESET':
    case 'HPE_INVALID_EOF_STATE':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return certificate('certificate has expired or is not yet valid');
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = (cert?.subjectaltname ?? '').replace(/(DNS|IP Address):/g, '');
      const isFor = names === '' ? 'is not valid for any names, but wanted to match' : `is valid for ${names}, not`;
      return certificate(`certificate ${isFor} ${host ?? ''}`.trim());
    }
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'tls: first record does not look like a TLS handshake';
    default:
      return message.startsWith('Parse Error') ? 'malformed HTTP response' : message;
  }
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Bodies of failed calls may be whole pages; their beginning is informative enough. */
const MAX_QUOTE_LENGTH = 2_048;

/** statusFailure returns the message for a response with an error status. */
export function statusFailure(status: number, body: string): string {
  const text = body.trim().slice(0, MAX_QUOTE_LENGTH);
  const meaning = MEANINGS[status];
  if (meaning !== undefined) return meaning;
  if (status === 403 || status === 406 || status === 415) return text || 'unknown';
  if (status >= 500)
    return `an error on the server (${JSON.stringify(text || 'unknown')}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}
