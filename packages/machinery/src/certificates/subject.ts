import { isIP } from 'node:net';
import { BowlineError } from '../errors/bowline-error.ts';
import { der, derObjectIdentifier, TAG } from './der.ts';

const COMMON_NAME = derObjectIdentifier('2.5.4.3');
const ORGANIZATION = derObjectIdentifier('2.5.4.10');

/** AlternativeName is a name that a certificate is valid for. */
export type AlternativeName = { type: 'dns' | 'ip' | 'url'; value: string };

/** distinguishedName encodes a subject: organizations first, then the common name, as Go and OpenSSL do. */
export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  if (commonName === '') throw invalid('the common name is empty', 'set commonName');
  if (organizations.includes('')) throw invalid(`an organization of "${commonName}" is empty`, 'remove it');
  // One relative distinguished name each: Kubernetes reads every O as a group, and the order is kept.
  const name = (type: Buffer, value: string): Buffer =>
    der(TAG.set, der(TAG.sequence, type, der(TAG.utf8String, Buffer.from(value))));
  return der(TAG.sequence, ...organizations.map((each) => name(ORGANIZATION, each)), name(COMMON_NAME, commonName));
}

/** AlternativeNames holds the names that a certificate is valid for. */
export interface AlternativeNames {
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  uris?: readonly string[];
}

// A label may contain an underscore: it is not allowed in host names, but occurs in real service names, and every TLS
// stack accepts it.
const DNS_NAME = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** alternativeNames validates each name, because an invalid name would only cause a failed handshake much later. */
export function alternativeNames(names: AlternativeNames): AlternativeName[] {
  return [
    ...(names.dnsNames ?? []).map((value): AlternativeName => {
      if (value.length > 253 || !DNS_NAME.test(value) || isIP(value) !== 0)
        throw invalid(`"${value}" is not a DNS name`, 'put IP addresses into ipAddresses and omit the port');
      return { type: 'dns', value };
    }),
    ...(names.ipAddresses ?? []).map((value): AlternativeName => {
      // A zone identifier (fe80::1%eth0) passes isIP but is not allowed in a certificate.
      if (isIP(value) === 0 || value.includes('%'))
        throw invalid(`"${value}" is not an IP address`, 'put host names into dnsNames and omit the port');
      return { type: 'ip', value };
    }),
    ...(names.uris ?? []).map((value): AlternativeName => {
      if (!URL.canParse(value)) throw invalid(`"${value}" is not an absolute URI`, 'include the scheme');
      return { type: 'url', value };
    }),
  ];
}

/** invalid returns the error for an invalid certificate request. */
export function invalid(problem: string, remedy: string): BowlineError {
  return new BowlineError('BOWLINE_CERTIFICATE_REQUEST_INVALID', `cannot issue a certificate: ${problem}; ${remedy}`);
}
