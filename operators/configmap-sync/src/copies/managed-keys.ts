import type { ObjectMeta } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';

/** How long the list of our keys may be: all annotations of an object have at most 256 KiB, and others want some of it. */
const MOST_KEYS_CHARACTERS = 131_072;

/** formatKeys is a list of keys for the annotation; undefined when it is too long for one. */
export function formatKeys(keys: Iterable<string>): string | undefined {
  const text = [...keys].sort().join(',');
  return text.length > MOST_KEYS_CHARACTERS ? undefined : text;
}

/** managedKeysOf are the keys of a copy that are ours; undefined when it does not say. */
export function managedKeysOf({ annotations }: ObjectMeta): ReadonlySet<string> | undefined {
  const keys = annotations?.[ANNOTATIONS.managedKeys];
  if (keys === undefined) return undefined;
  return new Set(keys === '' ? [] : keys.split(','));
}
