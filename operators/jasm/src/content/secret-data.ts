import { contentKeyProblem, JsonSyntaxError, MAX_CONTENT_BYTES, parseJson } from '@bowline/machinery';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { missingForType, registryKey } from '../api/secret-type.ts';
import type { ExternalSecret } from '../providers/provider.ts';
import { ContentProblem, quotedKey } from './content-problem.ts';
import { decodeValue } from './decode-value.ts';
import { renderTemplate } from './render-template.ts';
import { selectValues, type Value } from './select-values.ts';

/**
 * secretData returns the `data` of the Secret that a request produces from a secret, with values in Base64. It throws a
 * ContentProblem for content that cannot be stored; its message contains no value.
 */
export function secretData(secret: ExternalSecret, request: SecretSyncRequest): Readonly<Record<string, string>> {
  try {
    return dataOf(secret, request);
  } catch (error) {
    if (error instanceof ContentProblem) throw error;
    // This is a bug in our code, and its message may quote a value.
    const kind = error instanceof Error ? error.constructor.name : typeof error;
    throw new ContentProblem(
      'SecretParseFailed',
      `cannot convert the secret because of an internal error (${kind}); report a bug with the structure of the secret, without its values`,
    );
  }
}

function dataOf(secret: ExternalSecret, request: SecretSyncRequest): Readonly<Record<string, string>> {
  const values = new Map<string, Uint8Array>();
  for (const [key, value] of selectValues(secret, request)) values.set(key, decoded(key, value, request));
  const content = request.template ? renderTemplate(request.template, values) : values;
  checkKeys(content);
  checkSize(content);
  checkType(content, request);
  // `__proto__` is a valid key, so no code here assigns members by name.
  return Object.fromEntries([...content].map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]));
}

function decoded(key: string, { bytes, mayBeEncoded }: Value, { decode }: SecretSyncRequest): Uint8Array {
  const plain = mayBeEncoded ? decodeValue(bytes, decode) : bytes;
  if (plain !== undefined) return plain;
  throw new ContentProblem(
    'SecretParseFailed',
    `the value of the key ${quotedKey(key)} is not ${decode}; correct it in the store, or set decode to None or Auto`,
  );
}

function checkKeys(content: ReadonlyMap<string, Uint8Array>): void {
  for (const key of content.keys()) {
    const problem = contentKeyProblem(key);
    if (problem)
      throw new ContentProblem(
        'SecretKeyInvalid',
        `the key ${quotedKey(key)} is not valid in a Secret: it ${problem}; select keys with keys, or rename them with a map`,
      );
  }
}

function checkSize(content: ReadonlyMap<string, Uint8Array>): void {
  let size = 0;
  for (const bytes of content.values()) size += bytes.byteLength;
  if (size > MAX_CONTENT_BYTES)
    throw new ContentProblem(
      'SecretTooLarge',
      `the values have ${size} bytes in total, but a Secret holds at most ${MAX_CONTENT_BYTES}; select fewer keys with keys`,
    );
}

/**
 * Checks what the API server requires of a type. In a Secret that is merged into, other owners may add the missing
 * keys.
 */
function checkType(content: ReadonlyMap<string, Uint8Array>, { type, creationPolicy }: SecretSyncRequest): void {
  const hasKey = (key: string): boolean => content.has(key);
  const missing = creationPolicy === 'Merge' ? undefined : missingForType(type, hasKey);
  if (missing !== undefined)
    throw new ContentProblem(
      'SecretKeyMissing',
      `a Secret of type ${type} needs ${missing}; add it in the store, or rename a key with keys`,
    );
  if (type === 'kubernetes.io/ssh-auth' && content.get('ssh-privatekey')?.byteLength === 0)
    throw new ContentProblem(
      'SecretKeyMissing',
      `a Secret of type ${type} needs a value for "ssh-privatekey"; add it in the store`,
    );
  const key = registryKey(type);
  const value = key === undefined ? undefined : content.get(key);
  if (value !== undefined && !isJsonObject(Buffer.from(value).toString()))
    throw new ContentProblem(
      'SecretParseFailed',
      `in a Secret of type ${type} the value of ${quotedKey(key ?? '')} must be a JSON object; correct it in the store`,
    );
}

function isJsonObject(text: string): boolean {
  try {
    const { value } = parseJson(text);
    return typeof value === 'object' && !Array.isArray(value);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return false;
    throw error;
  }
}
