import type { ConfigMap } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { contentHash, keyHashes } from '../content/content-hash.ts';

/** Base is what both sides last agreed on: short hashes by key, as returned by `keyHashes`. */
export type Base = Readonly<Record<string, string>>;

/**
 * The maximum length of a base. It is stored in an annotation of the copy, so that it is written together with the
 * content that it describes and survives every restart. All annotations of an object are limited to 256 KiB, and other
 * clients need some of it.
 */
const MAX_BASE_CHARACTERS = 196_608;

/** formatBase returns a base as the value of the annotation, or undefined if there are too many keys. */
export function formatBase(base: Base): string | undefined {
  const text = JSON.stringify(base);
  return text.length > MAX_BASE_CHARACTERS ? undefined : text;
}

/**
 * baseOf returns the base that a copy records. A copy that was synced one way until now, and has not been changed
 * since, is itself what both sides agreed on. It returns undefined if nothing is known: before the first sync, or if
 * the annotation is damaged.
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
