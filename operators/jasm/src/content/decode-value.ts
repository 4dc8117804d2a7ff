import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';

/** decodeValue is a value without its encoding, or undefined where it is not encoded like that. Auto takes what fits first. */
export function decodeValue(value: Uint8Array, decode: SecretSyncRequest['decode']): Uint8Array | undefined {
  switch (decode) {
    case 'None':
      return value;
    case 'Base64':
      return decoded(value, BASE64);
    case 'Base64URL':
      return decoded(value, BASE64_URL);
    case 'Auto':
      return decoded(value, BASE64) ?? decoded(value, BASE64_URL) ?? value;
  }
}

// With and without padding; of the length, below.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_URL = /^[-A-Za-z0-9_]*={0,2}$/;

function decoded(value: Uint8Array, alphabet: RegExp): Uint8Array | undefined {
  // Files are encoded in lines, and end with one.
  const text = Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, '');
  if (!alphabet.test(text)) return undefined;
  const digits = text.replace(/=+$/, '');
  const isPadded = digits.length < text.length;
  const isWhole = isPadded ? text.length % 4 === 0 : digits.length % 4 !== 1;
  // Node reads both alphabets.
  return isWhole ? Buffer.from(digits, 'base64') : undefined;
}
