import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';

/**
 * decodeValue returns a value without its encoding, or undefined if the value is not encoded that way. Auto uses the
 * first encoding that matches.
 */
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

// With or without padding; the length is checked below.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_URL = /^[-A-Za-z0-9_]*={0,2}$/;

function decoded(value: Uint8Array, alphabet: RegExp): Uint8Array | undefined {
  // Encoded files are often split into lines and end with a line break.
  const text = Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, '');
  if (!alphabet.test(text)) return undefined;
  const digits = text.replace(/=+$/, '');
  const isPadded = digits.length < text.length;
  const isWhole = isPadded ? text.length % 4 === 0 : digits.length % 4 !== 1;
  // Node decodes both alphabets.
  return isWhole ? Buffer.from(digits, 'base64') : undefined;
}
