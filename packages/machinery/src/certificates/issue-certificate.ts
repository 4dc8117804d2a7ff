import { webcrypto } from 'node:crypto';
import { systemClock } from '../clock/system-clock.ts';
import { type CertificateWithKey, openAuthority, pem, serialNumber, signingKey } from './certificate-authority.ts';
import { generateKeys, privateKeyPem } from './key-pair.ts';
import { type AlternativeNames, alternativeNames, distinguishedName, invalid } from './subject.ts';
import { type ValidityOptions, validity } from './validity.ts';
import { loadX509 } from './x509-library.ts';

const NINETY_DAYS_MS = 90 * 24 * 3_600_000;

/** CertificateUsage says which side of a TLS connection a certificate may stand for. */
export type CertificateUsage = 'server' | 'client';

/** IssueCertificateOptions describes an end certificate. */
export interface IssueCertificateOptions extends ValidityOptions, AlternativeNames {
  /** Who signs: the certificate and key of an authority. ECDSA and RSA keys are accepted. */
  authority: CertificateWithKey;
  /** The subject's common name. The API server takes it as the user name of a client. */
  commonName: string;
  /** The subject's organizations. The API server takes them as the groups of a client. Defaults to none. */
  organizations?: readonly string[];
  /** DNS names, wildcards allowed. Defaults to none. */
  dnsNames?: readonly string[];
  /** IPv4 and IPv6 addresses. Defaults to none. */
  ipAddresses?: readonly string[];
  /** URIs, for example a `spiffe://` identity. Defaults to none. */
  uris?: readonly string[];
  /** What the certificate is for; at least one. */
  usages: readonly CertificateUsage[];
  /** How long it is valid, in milliseconds, but never beyond its authority. Defaults to 90 days. */
  validForMs?: number;
}

/**
 * issueCertificate makes a key pair (ECDSA P-256) and a certificate for it, signed by an authority.
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
  if (options.usages.length === 0) throw invalid(`"${options.commonName}" has no usage`, 'give server, client or both');
  // Common names have not been matched against host names for years: without an alternative name nobody would connect.
  if (options.usages.includes('server') && names.length === 0)
    throw invalid(`the server "${options.commonName}" has no name to connect to`, 'give dnsNames or ipAddresses');
  const authority = openAuthority(options.authority, now);
  const keys = await generateKeys('ecdsa-p256');
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificate.raw);
  const issuerKeyId = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  const publicKey = new x509.PublicKey(keys.publicKey.export({ type: 'spki', format: 'der' }));
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      subject,
      issuer: issuer.subjectName,
      notBefore: dates.notBefore,
      notAfter: new Date(Math.min(dates.notAfter.getTime(), issuer.notAfter.getTime())),
      publicKey,
      signingKey: await signingKey(authority.key),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(
          [...new Set(options.usages)].map((usage) => x509.ExtendedKeyUsage[`${usage}Auth`]),
        ),
        await x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
        // An authority of somebody else's making may have computed its own identifier in another way: take what it says.
        issuerKeyId
          ? new x509.AuthorityKeyIdentifierExtension(issuerKeyId)
          : await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    },
    webcrypto,
  );
  return { certificatePem: pem(certificate), keyPem: privateKeyPem(keys.privateKey) };
}
