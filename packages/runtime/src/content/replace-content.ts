import { type KubernetesObject, keyOf } from '@bowline/kubernetes';
import type { WriteTools } from '../writing/write-client.ts';
import { type Content, contentIn, isEmpty, type StringMap } from './content.ts';
import { replacedContent } from './content-bodies.ts';
import type { ManagedContent } from './managed-content.ts';

/**
 * replaceContent replaces the content of an object that is not ours and gets no labels or annotations of ours, if it is
 * still in the state of `object`: the other side of a two-way sync. Returns the object as the API server stored it.
 */
export async function replaceContent<T extends KubernetesObject, Id extends string, K extends string, M extends string>(
  { live, fieldManager, signal }: WriteTools,
  { resource, maps }: Pick<ManagedContent<T, Id, K, M>, 'resource' | 'maps'>,
  object: T,
  content: Content<K>,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata ?? {};
  const filled = Object.entries<StringMap>(contentIn(maps, object)).flatMap(([map, texts]) =>
    isEmpty(texts) ? [] : [map],
  );
  const body = { metadata: { uid, resourceVersion }, ...replacedContent(content, filled) };
  return live.patch(resource, keyOf(object), { type: 'strategic', body }, { fieldManager, signal });
}
