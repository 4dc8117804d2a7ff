import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { guardedMerge } from './guarded-merge.ts';
import type { Owner } from './owner-reference.ts';
import type { WriteTools } from './write-client.ts';

/** ReleaseOptions names what is removed from an object. */
export interface ReleaseOptions {
  /** Names of labels. Defaults to none. */
  readonly labels?: readonly string[] | undefined;
  /** Names of annotations. Defaults to none. */
  readonly annotations?: readonly string[] | undefined;
  /** The owner whose reference is removed. Defaults to none. */
  readonly owner?: Owner | undefined;
}

/**
 * release gives up an object: it removes our labels, annotations and owner reference and keeps the content. It sends no
 * request when the object has none of them. It returns the object as it is now; undefined when it is gone.
 */
export async function release<T extends KubernetesObject>(
  { live, fieldManager, signal }: Pick<WriteTools, 'live' | 'fieldManager' | 'signal'>,
  resource: Resource<T>,
  object: T,
  options: ReleaseOptions,
): Promise<T | undefined> {
  const { owner } = options;
  return guardedMerge(live, resource, object, { fieldManager, signal }, ({ metadata = {} }) => {
    const labels = nulls(metadata.labels, options.labels);
    const annotations = nulls(metadata.annotations, options.annotations);
    const others = metadata.ownerReferences?.filter(({ uid }) => uid !== owner?.object.metadata?.uid);
    const isOwned = others?.length !== metadata.ownerReferences?.length;
    if (!labels && !annotations && !isOwned) return undefined;
    return {
      metadata: {
        ...(labels ? { labels } : {}),
        ...(annotations ? { annotations } : {}),
        ...(isOwned ? { ownerReferences: others } : {}),
      },
    };
  });
}

function nulls(
  present: Readonly<Record<string, string>> | undefined,
  names: readonly string[] = [],
): Record<string, null> | undefined {
  const found = names.filter((name) => present && Object.hasOwn(present, name));
  return found.length > 0 ? Object.fromEntries(found.map((name) => [name, null])) : undefined;
}
