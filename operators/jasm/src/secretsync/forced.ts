import { hash } from 'node:crypto';
import { type Serving, servedPods } from './serving.ts';

/** A Secret's annotations have a limit together: of a longer text it remembers a hash. */
const LONGEST_FORCED = 256;

/**
 * forcedBy is what the annotations `force-sync` of the pods that a Secret serves say together; undefined when none has any. `obeyed`
 * is what the Secret remembers: when nothing is said beyond that, because pods are gone, it stays.
 */
export function forcedBy(serving: Serving, obeyed?: string): string | undefined {
  const values = servedPods(serving).flatMap(({ pod }) => (pod.forceSync === undefined ? [] : [pod.forceSync]));
  const known = new Set(obeyed?.split(','));
  if (values.every((value) => value.split(',').every((part) => known.has(part)))) return obeyed;
  const text = [...new Set(values)].sort().join(',');
  return text.length <= LONGEST_FORCED ? text : hash('sha256', text, 'hex');
}
