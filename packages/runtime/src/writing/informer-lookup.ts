import type { KubernetesObject } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { codecOf } from '../cache/view-codec.ts';
import { keepsWholeObjects } from './applied-view.ts';
import type { CachedObject, Lookup } from './write-client.ts';

/**
 * informerLookup returns a lookup for writers that reads from informers that have synced. Any view helps: if it does
 * not hold an object that it would hold in the desired state, the object can be created at once; an object that it
 * holds with uid and resourceVersion is recognised after a write. Only views with the whole content, and our managed
 * fields, show what differs.
 */
export function informerLookup(informers: Iterable<Informer<unknown>>): Lookup {
  const byKind = new Map<string, Informer<unknown>[]>();
  for (const informer of informers) {
    const known = byKind.get(informer.resource.id) ?? [];
    // Views of whole objects first: they hold more.
    if (keepsWholeObjects(informer.view)) known.unshift(informer);
    else known.push(informer);
    byKind.set(informer.resource.id, known);
  }
  return (resource, key, desired) => {
    let isAbsent = false;
    for (const informer of byKind.get(resource.id) ?? []) {
      if (!informer.hasSynced || !informer.scope.covers(key)) continue;
      const value = informer.get(key);
      if (value !== undefined) return present(informer, value);
      isAbsent ||= desired ? wouldKeep(informer, desired) : keepsAll(informer);
    }
    return isAbsent ? { object: undefined, isComplete: true } : undefined;
  };
}

/** A projection keeps whatever its author chose; of that, only metadata with uid and resourceVersion is useful. */
function present(informer: Informer<unknown>, value: unknown): CachedObject | undefined {
  // A view that keeps whole objects returns whole objects.
  if (keepsWholeObjects(informer.view)) return { object: value as KubernetesObject, isComplete: true };
  const metadata = (value as Partial<KubernetesObject> | null)?.metadata;
  return metadata?.uid && metadata.resourceVersion ? { object: { metadata }, isComplete: false } : undefined;
}

/** Selectors depend on the content of an object, and projections and triggers may drop any object. */
function wouldKeep({ scope, view }: Informer<unknown>, desired: KubernetesObject): boolean {
  if (!scope.matches(desired)) return false;
  if (view === 'metadata' || keepsWholeObjects(view)) return true;
  try {
    return codecOf(view, { freeze: false, pausedAnnotation: undefined }).encode(desired, false) !== undefined;
  } catch {
    // The projection expects objects as they are stored.
    return false;
  }
}

function keepsAll({ scope, view }: Informer<unknown>): boolean {
  if (scope.labelSelector !== undefined || scope.fieldSelector !== undefined) return false;
  return view === 'metadata' || keepsWholeObjects(view);
}
