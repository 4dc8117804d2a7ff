import type { KubernetesObject } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { keepsWholeObjects } from './applied-view.ts';
import type { Lookup } from './write-client.ts';

/** LookupSource is an informer and the namespaces that it covers. */
export interface LookupSource {
  readonly informer: Informer<unknown>;
  /** Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * informerLookup reads what writers need to know from informers. Those with a projection of their own, or without content and
 * metadata, are of no use and left out; so is one that has not synced. An informer narrowed by a selector may be given: an
 * object that it leaves out is found when the create is refused.
 */
export function informerLookup(sources: Iterable<LookupSource>): Lookup {
  const byKind = new Map<string, LookupSource[]>();
  for (const source of sources) {
    const { informer } = source;
    if (informer.view !== 'metadata' && !keepsWholeObjects(informer.view)) continue;
    const known = byKind.get(informer.resource.id) ?? [];
    // Whole objects first: they answer more.
    if (informer.view === 'metadata') known.push(source);
    else known.unshift(source);
    byKind.set(informer.resource.id, known);
  }
  return (resource, key) => {
    const source = byKind.get(resource.id)?.find(({ informer, namespaces }) => {
      return informer.hasSynced && (namespaces === undefined || namespaces.includes(key.namespace ?? ''));
    });
    if (!source) return undefined;
    // The views that were let through above keep objects, or their metadata.
    const object = source.informer.get(key) as KubernetesObject | undefined;
    return { object, isComplete: source.informer.view !== 'metadata' };
  };
}
