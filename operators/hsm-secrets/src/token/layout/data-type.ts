/** Names of the types of data, with the last component of their object identifiers. Both are part of the layout. */
const DATA_TYPES: ReadonlyMap<string, number> = new Map([
  ['plaintext', 1],
  ['json', 2],
  ['pem', 3],
  ['binary', 4],
  ['base64', 5],
  ['x509-cert', 6],
  ['private-key', 7],
  ['docker-config', 8],
]);

/** The DER encoding of 1.3.6.1.4.1.99999.1.N without its last byte, N. */
const PREFIX = Buffer.from('060a2b06010401868d1f01', 'hex');

/** JSON_OBJECT_ID is the object identifier of JSON documents. */
export const JSON_OBJECT_ID = objectId('json');

/**
 * objectIdOf returns the object identifier (CKA_OBJECT_ID) of a value: that of the data type of its secret, or else one
 * that follows from the value. It is a hint for other programs; nothing here depends on it.
 */
export function objectIdOf(value: Buffer, dataType: string | undefined): Buffer {
  return objectId(dataType !== undefined && DATA_TYPES.has(dataType) ? dataType : inferType(value));
}

function objectId(dataType: string): Buffer {
  return Buffer.concat([PREFIX, Buffer.from([DATA_TYPES.get(dataType) ?? 0])]);
}

function inferType(value: Buffer): string {
  const text = value.toString('utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what makes data binary.
  if (!Buffer.from(text, 'utf8').equals(value) || /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
    return 'binary';
  if (text.startsWith('-----BEGIN ')) return 'pem';
  return isJsonDocument(text) ? 'json' : 'plaintext';
}

function isJsonDocument(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
