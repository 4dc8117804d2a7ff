import { isObject, type JsonObject, MAX_CONTENT_BYTES } from '@bowline/machinery';
import { checkData, checkMetadata } from '../token/layout/secret-input.ts';
import type { MetadataInput, SecretData } from '../token/token-service.ts';
import { ApiProblem, invalid } from './api-problem.ts';

/** SecretBody is the content of a request that writes a secret. */
export interface SecretBody {
  readonly data: SecretData;
  readonly metadata: MetadataInput;
  /** The version that the write replaces. Undefined: any. */
  readonly replaces: number | undefined;
}

const TEXTS = ['description', 'format', 'dataType', 'source'] as const;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** secretBody reads the body of a request that writes a secret. Errors name members and keys, never values. */
export function secretBody(path: string, body: JsonObject): SecretBody {
  requireKnown(body, ['data', 'metadata', 'replaces'], 'the body');
  const { data: values, metadata = {}, replaces } = body;
  if (!isObject(values)) throw invalid('data must be an object of base64 values by key');
  if (!isObject(metadata)) throw invalid('metadata must be an object');
  if (replaces !== undefined && !(Number.isSafeInteger(replaces) && Number(replaces) > 0))
    throw invalid('replaces must be the version that the write replaces, a positive integer');
  const data = dataOf(values);
  const input = metadataOf(metadata);
  checkData(path, data);
  checkMetadata(path, input);
  return { data, metadata: input, replaces: replaces === undefined ? undefined : Number(replaces) };
}

function dataOf(values: JsonObject): SecretData {
  const entries = Object.entries(values).map(([key, value]): readonly [string, Buffer] => {
    if (typeof value !== 'string' || !BASE64.test(value))
      throw invalid(`the value of the key ${JSON.stringify(key.slice(0, 253))} in data is not base64`);
    return [key, Buffer.from(value, 'base64')];
  });
  if (entries.length === 0) throw invalid('data has no key; add at least one');
  const bytes = entries.reduce((sum, [, value]) => sum + value.length, 0);
  if (bytes > MAX_CONTENT_BYTES)
    throw new ApiProblem(
      413,
      'too_large',
      `the values have ${bytes} bytes, more than the ${MAX_CONTENT_BYTES} bytes that a secret can have`,
    );
  return Object.fromEntries(entries);
}

function metadataOf(given: JsonObject): MetadataInput {
  requireKnown(given, [...TEXTS, 'labels'], 'metadata');
  const texts = TEXTS.flatMap((name): (readonly [string, string])[] => {
    const value = given[name];
    if (value === undefined) return [];
    if (typeof value !== 'string') throw invalid(`metadata.${name} must be a string`);
    return [[name, value]];
  });
  const { labels } = given;
  if (labels === undefined) return Object.fromEntries(texts);
  if (!isObject(labels) || !Object.values(labels).every((value) => typeof value === 'string'))
    throw invalid('metadata.labels must be an object of strings');
  return { ...Object.fromEntries(texts), labels: labels as Readonly<Record<string, string>> };
}

/** requireKnown throws if an object has other members: a misspelled one would be ignored. */
export function requireKnown(object: JsonObject, known: readonly string[], what: string): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(
      `${what} has the unknown member ${JSON.stringify(unknown.slice(0, 64))}; known are ${known.join(', ')}`,
    );
}
