import { MAX_CONTENT_BYTES } from '@bowline/machinery';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import type { ExternalSecret, SecretPayload } from '../providers/provider.ts';
import { ContentProblem, quotedKey } from './content-problem.ts';
import { type JsonFields, jsonFields, jsonText, memberAt } from './json-fields.ts';

/** Value is a value to be stored in a Secret. Only text and bytes can be encoded: `true` and 12 are not Base64. */
export interface Value {
  readonly bytes: Uint8Array;
  readonly mayBeEncoded: boolean;
}

/** selectValues returns the values that a request selects, by their target keys. It throws a ContentProblem. */
export function selectValues({ payload }: ExternalSecret, request: SecretSyncRequest): Map<string, Value> {
  if (request.format !== 'json') return new Map([[request.key ?? '', wholeValue(payload, request.format)]]);
  const source =
    payload.kind === 'entries' ? entriesSource(payload.entries) : fieldsSource(jsonFields(textOf(payload)));
  const chosen = request.keys ?? source.names.map((name) => ({ target: name, source: name }));
  const values = new Map<string, Value>();
  let size = 0;
  for (const { target, source: name } of chosen) {
    const value = source.valueOf(name, request.keys === undefined);
    size += value?.bytes.byteLength ?? 0;
    if (size > MAX_SELECTED_BYTES) throw tooLarge();
    if (value !== undefined) values.set(target, value);
    else if (!mayBeMissing(name, request)) throw missing(name, source);
  }
  return values;
}

/**
 * No store returns this much, but thousands of keys may name the same value. The size after decoding or rendering a
 * template is checked exactly.
 */
const MAX_SELECTED_BYTES = 4 * MAX_CONTENT_BYTES;

function tooLarge(): ContentProblem {
  return new ContentProblem(
    'SecretTooLarge',
    `the values selected by keys have more than ${MAX_SELECTED_BYTES} bytes in total, but a Secret holds at most ${MAX_CONTENT_BYTES}; select fewer keys`,
  );
}

function mayBeMissing(name: string, { missingKeyPolicy, optionalKeys }: SecretSyncRequest): boolean {
  return missingKeyPolicy === 'Ignore' || optionalKeys.includes(name);
}

function missing(name: string, source: Source): ContentProblem {
  const problem = source.has(name) ? 'is null in the secret' : 'is not in the secret';
  return new ContentProblem(
    'SecretKeyMissing',
    `the key ${quotedKey(name)} ${problem}; add it in the store, list it in optionalKeys, or set missingKeyPolicy to Ignore`,
  );
}

interface Source {
  readonly names: readonly string[];
  /** valueOf returns undefined for a missing value and for null. An `exact` name is not interpreted as a path. */
  valueOf(name: string, exact: boolean): Value | undefined;
  has(name: string): boolean;
}

function fieldsSource(fields: JsonFields): Source {
  return {
    names: Object.keys(fields),
    valueOf(name, exact) {
      const value = exact ? fields[name] : memberAt(fields, name);
      if (value === undefined || value === null) return undefined;
      return { bytes: Buffer.from(jsonText(value)), mayBeEncoded: typeof value === 'string' };
    },
    has: (name) => memberAt(fields, name) !== undefined,
  };
}

function entriesSource(entries: Readonly<Record<string, Uint8Array>>): Source {
  const bytesOf = (name: string): Uint8Array | undefined => (Object.hasOwn(entries, name) ? entries[name] : undefined);
  return {
    names: Object.keys(entries),
    valueOf(name) {
      const bytes = bytesOf(name);
      return bytes && { bytes, mayBeEncoded: true };
    },
    has: (name) => bytesOf(name) !== undefined,
  };
}

function wholeValue(payload: SecretPayload, format: 'raw' | 'binary'): Value {
  if (payload.kind === 'entries')
    throw new ContentProblem(
      'SecretParseFailed',
      `the secret has several keys, but format ${format} expects a single value; set format to json`,
    );
  if (format === 'binary' && payload.kind === 'bytes') return { bytes: payload.bytes, mayBeEncoded: true };
  return { bytes: Buffer.from(textOf(payload)), mayBeEncoded: true };
}

function textOf(payload: Exclude<SecretPayload, { kind: 'entries' }>): string {
  if (payload.kind === 'text') return payload.text;
  const text = utf8Text(payload.bytes);
  if (text !== undefined) return text;
  throw new ContentProblem(
    'SecretParseFailed',
    'the secret is binary data, not text; set format to binary, and set key',
  );
}

/** utf8Text decodes bytes as UTF-8, and returns undefined if they are not valid UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    // Without `ignoreBOM`, a byte order mark would be dropped.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
