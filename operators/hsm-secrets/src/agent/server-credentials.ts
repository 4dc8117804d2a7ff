import type { SecureContextOptions } from 'node:tls';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import type { ServerCredentials } from '@grpc/grpc-js';
import type { Grpc } from '../agent-protocol/contract.ts';

/** ChangingCredentials are credentials of a server whose certificate can be replaced while it runs. */
export interface ChangingCredentials {
  readonly credentials: ServerCredentials;
  /** replace uses an identity for all further connections. Open connections are not affected. */
  replace(identity: TlsIdentity): void;
}

/**
 * serverCredentials requires TLS 1.3 and a client certificate. The library has no factory for credentials that change
 * and require TLS 1.3, but its base class is made for both.
 */
export function serverCredentials({ ServerCredentials: Base }: Grpc, first: TlsIdentity): ChangingCredentials {
  class Credentials extends Base {
    constructor() {
      super({ requestCert: true, rejectUnauthorized: true }, contextOf(first));
    }

    replace(identity: TlsIdentity): void {
      this.updateSecureContextOptions(contextOf(identity));
    }

    override _equals(other: ServerCredentials): boolean {
      return this === other;
    }
  }
  const credentials = new Credentials();
  return { credentials, replace: (identity) => credentials.replace(identity) };
}

/** The version is part of the context: replacing the context would otherwise reset it. */
function contextOf({ certificate, bundlePem }: TlsIdentity): SecureContextOptions {
  return { cert: certificate.certificatePem, key: certificate.keyPem, ca: bundlePem, minVersion: 'TLSv1.3' };
}
