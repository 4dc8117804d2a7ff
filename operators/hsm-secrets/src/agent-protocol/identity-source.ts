import type { TlsIdentity } from '@bowline/runtime/certificates';

/** IdentitySource provides a certificate and the CAs of the peers, both of which change. */
export interface IdentitySource {
  /** Undefined until there is one. */
  readonly current: TlsIdentity | undefined;
  /** ready resolves with the first identity. It rejects when the signal is aborted. */
  ready(signal: AbortSignal): Promise<TlsIdentity>;
  /** changes yields the identity, and again when it has changed, until the signal is aborted. */
  changes(signal: AbortSignal): AsyncIterable<TlsIdentity>;
}
