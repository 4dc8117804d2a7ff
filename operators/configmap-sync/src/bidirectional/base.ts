import type { ConfigMap } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { contentHash, keyHashes } from '../content/content-hash.ts';

/** Base is what both sides last agreed on: short hashes by key, as `keyHashes` gives them. */
export type Base = Readonly<Record<string, string>>;

/**
 * How long a base may be. It stands in an annotation of the copy, so that it is written together with the content that it
 * describes and survives every restart; all annotations of an object have at most 256 KiB, and others want some of it.
 */
const MOST_BASE_CHARACTERS = 196_608;

/** formatBase is a base for the annotation; undefined when there are too many keys for one. */
export function formatBase(base: Base): string | undefined {
  const text = JSON.stringify(base);
  return text.length > MOST_BASE_CHARACTERS ? undefined : text;
}

/**
 * baseOf is what a copy remembers. One that was synced one way until now, and has not been changed since, is itself what both
 * sides agreed on. Undefined when nothing is known: before the first sync, or when somebody has damaged it.
 */
export function baseOf(copy: ConfigMap): Base | undefined {
  const { annotations = {} } = copy.metadata ?? {};
  const text = annotations[ANNOTATIONS.base];
  if (text !== undefined) return parseBase(text);
  const content = contentOf(copy);
  return annotations[ANNOTATIONS.appliedHash] === contentHash(content) ? keyHashes(content) : undefined;
}

function parseBase(text: string): Base | undefined {
  try {
    const base: unknown = JSON.parse(text);
    if (typeof base !== 'object' || base === null || Array.isArray(base)) return undefined;
    const hashes = Object.entries(base).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(hashes);
  } catch {
    return undefined;
  }
}
