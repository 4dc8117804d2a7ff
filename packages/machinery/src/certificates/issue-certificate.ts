import { systemClock } from '../clock/system-clock.ts';
import { type CertificateWithKey, openAuthority } from './certificate-authority.ts';
import { endExtensions, keyExtensions, nameExtensions } from './extensions.ts';
import { generateKeys, privateKeyPem } from './key-pair.ts';
import { keyIdentifier, namesOf, signCertificate } from './sign-certificate.ts';
import { type AlternativeNames, alternativeNames, distinguishedName, invalid } from './subject.ts';
import { type ValidityOptions, validity } from './validity.ts';

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
  const { certificate: issuer, key } = openAuthority(options.authority, now);
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
        // An authority of somebody else's making may have computed its own identifier in another way: take what it says.
        ...keyExtensions(keyIdentifier(keys.publicKey), keyId ?? keyIdentifier(issuer.publicKey)),
        ...nameExtensions(names),
      ],
    },
    key,
  );
  return { certificatePem, keyPem: privateKeyPem(keys.privateKey) };
}
