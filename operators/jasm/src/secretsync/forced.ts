import { hash } from 'node:crypto';
import { type Serving, servedPods } from './serving.ts';

/** A Secret's annotations have a limit together: of a longer text it remembers a hash. */
const LONGEST_FORCED = 256;

/** forcedBy is what the annotations `force-sync` of the pods that a Secret serves say together; undefined when none has any. */
export function forcedBy(serving: Serving): string | undefined {
  const values = new Set(
    servedPods(serving).flatMap(({ pod }) => (pod.forceSync === undefined ? [] : [pod.forceSync])),
  );
  if (values.size === 0) return undefined;
  const text = [...values].sort().join(',');
  return text.length <= LONGEST_FORCED ? text : hash('sha256', text, 'hex');
}
