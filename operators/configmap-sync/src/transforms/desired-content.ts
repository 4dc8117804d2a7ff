import { contentKeyProblem } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import type { Content } from '../content/content.ts';
import { contentFrom, entriesOf } from '../content/content.ts';
import { ContentProblem } from '../content/content-problem.ts';
import { contentSize, MAX_CONTENT_BYTES } from '../content/content-size.ts';
import { filterKeys } from '../content/key-filter.ts';
import { applyTransform } from './apply-transform.ts';

/**
 * desiredContent returns the content that a copy should have: the selected keys of the source, changed by the
 * transforms in their order. It throws a ContentProblem if the result cannot be stored in a ConfigMap.
 */
export function desiredContent(source: Content, spec: Pick<Spec, 'keys' | 'transforms'>): Content {
  const chosen = filterKeys(source, spec.keys);
  const { transforms = [] } = spec;
  if (transforms.length === 0) return chosen;
  const replaceCount = transforms.filter(({ replace }) => replace).length;
  let entries = entriesOf(chosen);
  for (const [index, transform] of transforms.entries()) {
    entries = applyTransform(entries, transform, { field: `spec.transforms[${index}]`, replaceCount });
  }
  for (const key of entries.keys()) {
    const problem = contentKeyProblem(key);
    if (problem)
      throw new ContentProblem('InvalidSpec', 'spec.transforms', `the key ${JSON.stringify(key)} ${problem}`);
  }
  const result = contentFrom(entries);
  const size = contentSize(result);
  if (size > MAX_CONTENT_BYTES) {
    throw new ContentProblem(
      'TooLarge',
      'spec.transforms',
      `the result has ${size} bytes, but a ConfigMap holds at most ${MAX_CONTENT_BYTES}; exclude keys, or shorten values`,
    );
  }
  return result;
}
