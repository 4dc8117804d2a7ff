import { X509Certificate } from 'node:crypto';

/**
 * isCertificateFor reports whether a verified certificate (DER) is valid for exactly this DNS name. Wildcards and common
 * names do not count.
 */
export function isCertificateFor(certificate: Buffer | undefined, name: string): boolean {
  if (certificate === undefined) return false;
  return new X509Certificate(certificate).checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}
