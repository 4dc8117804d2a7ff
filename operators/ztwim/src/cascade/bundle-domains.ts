import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * trustDomainsIn returns the trust domains that the certificates of a bundle name. What is not a certificate is ignored:
 * only SPIRE writes the bundle.
 */
export function trustDomainsIn(bundle: string): ReadonlySet<string> {
  const domains = new Set<string>();
  for (const [pem] of bundle.matchAll(CERTIFICATE)) {
    for (const domain of domainsOf(pem)) domains.add(domain);
  }
  return domains;
}

function domainsOf(pem: string): readonly string[] {
  let names: string | undefined;
  try {
    names = new X509Certificate(pem).subjectAltName;
  } catch {
    return [];
  }
  return (names ?? '').split(', ').flatMap((name) => /^URI:spiffe:\/\/([^/]+)/.exec(name)?.[1] ?? []);
}
