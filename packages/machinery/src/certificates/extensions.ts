import { isIPv4 } from 'node:net';
import { der, derObjectIdentifier, TAG } from './der.ts';
import { bits } from './sign-certificate.ts';
import type { AlternativeName } from './subject.ts';

const TRUE = der(TAG.boolean, Buffer.from([0xff]));

/**
 * extension returns one extension of a certificate. A client that does not know a critical extension must reject the
 * certificate.
 */
function extension(identifier: string, value: Buffer, isCritical = false): Buffer {
  return der(TAG.sequence, derObjectIdentifier(identifier), ...(isCritical ? [TRUE] : []), der(TAG.octetString, value));
}

/**
 * authorityExtensions returns the extensions that allow a certificate to sign end certificates, but no intermediate
 * authorities.
 */
export function authorityExtensions(): readonly Buffer[] {
  return [
    extension('2.5.29.19', der(TAG.sequence, TRUE, der(TAG.integer, Buffer.from([0]))), true),
    // keyCertSign and cRLSign are the sixth and the seventh bit.
    extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true),
  ];
}

const PURPOSES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/** endExtensions returns the extensions that restrict a certificate to handshakes, on the given sides. */
export function endExtensions(usages: Iterable<keyof typeof PURPOSES>): readonly Buffer[] {
  const purposes = [...new Set(usages)].map((usage) => derObjectIdentifier(PURPOSES[usage]));
  return [
    extension('2.5.29.19', der(TAG.sequence), true),
    // digitalSignature is the first bit.
    extension('2.5.29.15', bits(Buffer.from([0x80]), 7), true),
    extension('2.5.29.37', der(TAG.sequence, ...purposes)),
  ];
}

/** keyExtensions returns the extensions that identify the key of a certificate and the key that signed it. */
export function keyExtensions(own: Buffer, issuer: Buffer): readonly Buffer[] {
  return [
    extension('2.5.29.14', der(TAG.octetString, own)),
    extension('2.5.29.35', der(TAG.sequence, der(0x80, issuer))),
  ];
}

/** nameExtensions returns the extension with the addresses of the certificate's holder; empty if there are no names. */
export function nameExtensions(names: readonly AlternativeName[]): readonly Buffer[] {
  return names.length === 0 ? [] : [extension('2.5.29.17', der(TAG.sequence, ...names.map(alternativeName)))];
}

function alternativeName({ type, value }: AlternativeName): Buffer {
  switch (type) {
    case 'dns':
      return der(0x82, Buffer.from(value));
    case 'url':
      // Only ASCII is allowed here.
      return der(0x86, Buffer.from(value.replace(/[^\u0020-\u007e]+/gu, encodeURIComponent)));
    case 'ip':
      return der(0x87, addressBytes(value));
  }
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // A URL normalizes every address: hexadecimal groups, the longest run of zeros left out.
  const [front = '', back] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined): number[] =>
    text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [];
  const [before, after] = [groups(front), groups(back)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}
