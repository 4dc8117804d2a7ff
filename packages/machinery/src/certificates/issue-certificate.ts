import { systemClock } from '../clock/system-clock.ts';
import { type CertificateWithKey, loadAuthority } from './certificate-authority.ts';
import { endExtensions, keyExtensions, nameExtensions } from './extensions.ts';
import { generateKeys, privateKeyPem } from './key-pair.ts';
import { keyIdentifier, namesOf, signCertificate } from './sign-certificate.ts';
import { type AlternativeNames, alternativeNames, distinguishedName, invalid } from './subject.ts';
import { type ValidityOptions, validity } from './validity.ts';

const NINETY_DAYS_MS = 90 * 24 * 3_600_000;

/** CertificateUsage is the side of a TLS connection that a certificate may authenticate. */
export type CertificateUsage = 'server' | 'client';

/** IssueCertificateOptions describes an end certificate. */
export interface IssueCertificateOptions extends ValidityOptions, AlternativeNames {
  /** The certificate and key of the authority that signs. ECDSA and RSA keys are accepted. */
  authority: CertificateWithKey;
  /** The subject's common name. The API server uses it as the user name of a client. */
  commonName: string;
  /** The subject's organizations. The API server uses them as the groups of a client. Defaults to none. */
  organizations?: readonly string[];
  /** DNS names, wildcards allowed. Defaults to none. */
  dnsNames?: readonly string[];
  /** IPv4 and IPv6 addresses. Defaults to none. */
  ipAddresses?: readonly string[];
  /** URIs, for example a `spiffe://` identity. Defaults to none. */
  uris?: readonly string[];
  /** The purposes of the certificate; at least one. */
  usages: readonly CertificateUsage[];
  /** How long the certificate is valid, in milliseconds, but never beyond its authority. Defaults to 90 days. */
  validForMs?: number;
}

/**
 * issueCertificate creates a key pair (ECDSA P-256) and a certificate for it, signed by an authority.
 *
 * @example
 * const admin = await issueCertificate({
 *   authority,
 *   commonName: 'admin',
 *   organizations: ['system:masters'],
 *   usages: ['client'],
 * });
 */
export async function issueCertificate(options: IssueCertificateOptions): Promise<CertificateWithKey> {
  const now = options.now ?? systemClock.now();
  const dates = validity({ ...options, now }, NINETY_DAYS_MS);
  const subject = distinguishedName(options.commonName, options.organizations ?? []);
  const names = alternativeNames(options);
  if (options.usages.length === 0) throw invalid(`"${options.commonName}" has no usages`, 'use server, client or both');
  // Clients have not matched common names against host names for years: without an alternative name, no client would
  // connect.
  if (options.usages.includes('server') && names.length === 0)
    throw invalid(`the server "${options.commonName}" has no alternative name`, 'set dnsNames or ipAddresses');
  const { certificate: issuer, key } = loadAuthority(options.authority, now);
  const keys = await generateKeys('ecdsa-p256');
  const { subject: issuerName, keyId } = namesOf(issuer);
  const certificatePem = signCertificate(
    {
      issuer: issuerName,
      subject,
      notBefore: dates.notBefore,
      notAfter: new Date(Math.min(dates.notAfter.getTime(), Date.parse(issuer.validTo))),
      publicKey: keys.publicKey,
      extensions: [
        ...endExtensions(options.usages),
        // An authority created by other software may compute its key identifier differently: use the identifier in its
        // certificate.
        ...keyExtensions(keyIdentifier(keys.publicKey), keyId ?? keyIdentifier(issuer.publicKey)),
        ...nameExtensions(names),
      ],
    },
    key,
  );
  return { certificatePem, keyPem: privateKeyPem(keys.privateKey) };
}
