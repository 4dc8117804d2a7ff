import { MAX_CONTENT_BYTES, parseTime } from '@bowline/machinery';
import { secretPathProblem } from '../../api/secret-path.ts';
import { TokenError } from '../token-error.ts';
import type { MetadataInput, SecretData, WriteOptions } from '../token-service.ts';
import { keyProblem } from './label.ts';
import { MAX_VERSION, RESERVED_LABELS } from './metadata-record.ts';

/** Far more than any Secret has; it bounds the size of the manifest. */
const MAX_KEYS = 1_024;
/** For everything that a user writes into the metadata: devices have little memory. */
const MAX_METADATA_BYTES = 16_384;

/** checkPath throws if the path of a secret is not valid. */
export function checkPath(path: string): void {
  const problem = secretPathProblem(path);
  if (problem !== undefined) throw invalid(`the path ${quote(path)} of a secret ${problem}`);
}

/** checkKey throws if a key of a secret is not valid. */
export function checkKey(key: string): void {
  const problem = keyProblem(key);
  if (problem !== undefined) throw invalid(`the key ${quote(key)} of a secret ${problem}`);
}

/** checkData throws if the content of a secret is not valid or too large. */
export function checkData(path: string, data: SecretData): void {
  const keys = Object.keys(data);
  for (const key of keys) checkKey(key);
  if (keys.length > MAX_KEYS) throw invalid(`the secret ${quote(path)} has ${keys.length} keys, more than ${MAX_KEYS}`);
  const bytes = Object.values(data).reduce((sum, value) => sum + value.length, 0);
  if (bytes > MAX_CONTENT_BYTES)
    throw invalid(`the values of the secret ${quote(path)} have ${bytes} bytes, more than ${MAX_CONTENT_BYTES}`);
}

/** checkMetadata throws if the metadata of a secret is too large or sets reserved labels. */
export function checkMetadata(path: string, { description, labels, format, dataType, source }: MetadataInput): void {
  const reserved = Object.keys(labels ?? {}).find((name) => RESERVED_LABELS.includes(name));
  if (reserved !== undefined)
    throw invalid(`the label ${quote(reserved)} of the secret ${quote(path)} is reserved; remove it`);
  const bytes = Buffer.byteLength(JSON.stringify({ description, labels, format, dataType, source }));
  if (bytes > MAX_METADATA_BYTES)
    throw invalid(`the metadata of the secret ${quote(path)} has ${bytes} bytes, more than ${MAX_METADATA_BYTES}`);
}

/** checkOptions throws if the versions or the time of a write are not valid. */
export function checkOptions({ replaces, version, timestamp }: WriteOptions): void {
  if (replaces !== undefined) checkVersion(replaces, 0);
  if (version !== undefined) checkVersion(version, 1);
  if (timestamp === undefined) return;
  try {
    parseTime(timestamp);
  } catch (cause) {
    throw new TokenError('Invalid', `the time ${quote(timestamp)} of a secret is not an RFC 3339 time`, { cause });
  }
}

/** checkVersion throws if a version is not valid. */
export function checkVersion(version: number, min: number): void {
  if (!Number.isInteger(version) || version < min || version > MAX_VERSION)
    throw invalid(`the version ${version} of a secret must be an integer from ${min} to ${MAX_VERSION}`);
}

function invalid(message: string): TokenError {
  return new TokenError('Invalid', message);
}

const MAX_QUOTE = 100;

/** Input may be arbitrarily long; a message must fit into a log line. */
function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text);
}
