import {
  type CertificateUsage,
  type CertificateWithKey,
  createCertificateAuthority,
  issueCertificate,
} from '@bowline/machinery';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import type { IdentitySource } from '../agent-protocol/identity-source.ts';

/** testAuthority creates a CA. */
export function testAuthority(): Promise<CertificateWithKey> {
  return createCertificateAuthority({ commonName: 'agents' });
}

/** testIdentity issues a certificate for one name. Its peers are those of `trusted`, by default the same CA. */
export async function testIdentity(
  authority: CertificateWithKey,
  name: string,
  usage: CertificateUsage,
  trusted: readonly CertificateWithKey[] = [authority],
): Promise<TlsIdentity> {
  const issued = await issueCertificate({ authority, commonName: 'agent', dnsNames: [name], usages: [usage] });
  return {
    certificate: { ...issued, fingerprint: issued.certificatePem, notAfter: Number.MAX_SAFE_INTEGER },
    bundlePem: trusted.map((each) => each.certificatePem).join(''),
  };
}

/** TestIdentitySource is an identity that a test replaces. */
export class TestIdentitySource implements IdentitySource {
  current: TlsIdentity;
  #changed: (() => void) | undefined;

  constructor(first: TlsIdentity) {
    this.current = first;
  }

  async ready(): Promise<TlsIdentity> {
    return this.current;
  }

  replace(identity: TlsIdentity): void {
    this.current = identity;
    this.#changed?.();
  }

  async *changes(signal: AbortSignal): AsyncGenerator<TlsIdentity> {
    let seen: TlsIdentity | undefined;
    while (!signal.aborted) {
      if (seen !== this.current) {
        seen = this.current;
        yield seen;
      } else {
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    }
  }
}
