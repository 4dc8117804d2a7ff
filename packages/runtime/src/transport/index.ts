// The entry of `@bowline/runtime/transport`, for code that implements its own transport and needs nothing else of the
// runtime.
export type {
  ClientCertificate,
  Credentials,
  Impersonation,
  RejectedCredentials,
  RequestHeaders,
} from './connection-config.ts';
export { impersonationHeaders } from './impersonation.ts';
export { type TokenSource, tokenCredentials } from './token-credentials.ts';
export type * from './transport.ts';
export { TransportError, type TransportErrorCode } from './transport-error.ts';
