import { anyGlob } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import { type Content, contentFrom, entriesOf } from './content.ts';

/**
 * filterKeys returns the content with only the keys that a spec selects. A missing or empty `include` selects all keys.
 */
export function filterKeys(content: Content, keys: Spec['keys']): Content {
  if (keys === undefined) return content;
  const isIncluded = anyGlob(keys.include?.length ? keys.include : ['**']);
  const isExcluded = anyGlob(keys.exclude ?? []);
  return contentFrom([...entriesOf(content)].filter(([key]) => isIncluded(key) && !isExcluded(key)));
}
