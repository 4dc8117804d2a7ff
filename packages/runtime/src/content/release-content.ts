import type { KubernetesObject } from '@bowline/kubernetes';
import { isConflict, isNotFound } from '../errors/api-error.ts';
import type { WriteTools } from '../writing/write-client.ts';
import { releaseBody } from './content-bodies.ts';
import type { ContentView } from './content-view.ts';
import type { ManagedContent } from './managed-content.ts';

/** ReleaseContentOptions configures what happens to an object that is given up. */
export interface ReleaseContentOptions<V> {
  /** Delete it, unless it is adopted. Otherwise our labels and annotations are removed, and its content stays. */
  readonly delete: boolean;
  /** Called when the object was changed meanwhile: reports whether it is still the object to give up. */
  readonly isStillOurs: (view: V) => boolean;
  /** How often a write is attempted when the object was changed meanwhile; 1 means no retry. Defaults to 4. */
  readonly attempts?: number | undefined;
}

/**
 * ReleasedContent is the result for an object that is given up: `absent` when it is gone or being deleted, `foreign`
 * when it is no longer ours.
 */
export type ReleasedContent = 'deleted' | 'released' | 'absent' | 'foreign';

const MAX_ATTEMPTS = 4;

/** isDeletedOnRelease reports whether an object that is given up is deleted. An adopted object never is. */
export function isDeletedOnRelease(
  view: Pick<ContentView, 'isAdopted'>,
  options: { readonly delete: boolean },
): boolean {
  return options.delete && !view.isAdopted;
}

/** releaseContent gives up an object: it deletes the object, or removes our labels and annotations. */
export async function releaseContent<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object,
>(
  { live: client, fieldManager, signal }: WriteTools,
  content: ManagedContent<T, Id, K, M, X>,
  first: ContentView<M> & X,
  options: ReleaseContentOptions<ContentView<M> & X>,
): Promise<ReleasedContent> {
  const { resource } = content;
  const { namespace, name } = first;
  const key = { namespace, name };
  const { attempts = MAX_ATTEMPTS } = options;
  let view = first;
  for (let attempt = 1; ; attempt++) {
    const { uid, resourceVersion, isTerminating } = view;
    const isDeleted = isDeletedOnRelease(view, options);
    if (isDeleted && isTerminating) return 'absent';
    try {
      if (isDeleted) await client.delete(resource, key, { preconditions: { uid, resourceVersion }, signal });
      else {
        const patch = { type: 'merge', body: releaseBody(content, view) } as const;
        await client.patch(resource, key, patch, { fieldManager, signal });
      }
      return isDeleted ? 'deleted' : 'released';
    } catch (error) {
      if (isNotFound(error)) return 'absent';
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
    const object = await client.find(resource, key, { signal });
    if (object?.metadata?.uid !== first.uid) return 'absent';
    const next = content.viewOf(object);
    if (!options.isStillOurs(next)) return 'foreign';
    view = next;
  }
}
