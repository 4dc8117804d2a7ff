import type { KubernetesObject } from '@bowline/kubernetes';
import { type ProjectView, project, type View } from '../cache/view.ts';

const views = new Map<string, ProjectView<KubernetesObject, KubernetesObject>>();
const known = new WeakSet<object>();

/**
 * appliedView returns the view for objects that we apply: the whole object, with only those managedFields entries whose
 * manager's name starts with `prefix`. With it, the cache is enough to decide whether an apply would change anything,
 * even after a restart; the `full` view keeps no managedFields, so each object has to be read once. The same prefix
 * returns the same view.
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
  // The projection returns its input, except for a part of the metadata.
  return view as unknown as ProjectView<T, T>;
}

/** keepsWholeObjects reports whether reads through a view return the whole content of an object. */
export function keepsWholeObjects(view: View<never>): boolean {
  return view === 'full' || (typeof view === 'object' && known.has(view));
}
