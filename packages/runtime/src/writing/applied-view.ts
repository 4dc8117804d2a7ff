import type { KubernetesObject } from '@bowline/kubernetes';
import { type ProjectView, project, type View } from '../cache/view.ts';

const views = new Map<string, ProjectView<KubernetesObject, KubernetesObject>>();
const known = new WeakSet<object>();

/**
 * appliedView is the view for objects that we apply: everything, and of managedFields the entries of the managers whose name
 * starts with `prefix`. With it, a cache alone decides whether an apply would change anything, also after a restart; the
 * `full` view keeps no managedFields, so that each object has to be read once. The same prefix gives the same view.
 *
 * @example
 * const view = appliedView<Deployment>('bowline-site-');
 * const deployments = cache.informer(Deployment, { view });
 */
export function appliedView<T extends KubernetesObject>(prefix: string): ProjectView<T, T> {
  let view = views.get(prefix);
  if (!view) {
    view = project((object: KubernetesObject) => ({
      ...object,
      metadata: {
        ...object.metadata,
        managedFields: object.metadata?.managedFields?.filter(({ manager = '' }) => manager.startsWith(prefix)) ?? [],
      },
    }));
    views.set(prefix, view);
    known.add(view);
  }
  // The projection gives back what it is given, but for a part of the metadata.
  return view as unknown as ProjectView<T, T>;
}

/** keepsWholeObjects says whether reads through a view have all the content of an object. */
export function keepsWholeObjects(view: View<never>): boolean {
  return view === 'full' || (typeof view === 'object' && known.has(view));
}
