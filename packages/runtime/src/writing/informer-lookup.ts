import type { KubernetesObject } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { codecOf } from '../cache/view-codec.ts';
import { keepsWholeObjects } from './applied-view.ts';
import type { CachedObject, Lookup } from './write-client.ts';

/**
 * informerLookup reads what writers need to know from informers that have synced. Any view helps: one that does not have an
 * object, but would have it if it were as desired, says that it can be created at once; what it has with uid and
 * resourceVersion is known again after a write. Only views with all the content, and our managed fields, tell what differs.
 */
export function informerLookup(informers: Iterable<Informer<unknown>>): Lookup {
  const byKind = new Map<string, Informer<unknown>[]>();
  for (const informer of informers) {
    const known = byKind.get(informer.resource.id) ?? [];
    // Whole objects first: they answer more.
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

/** A projection keeps what its author likes: of that, metadata with its identity is of use. */
function present(informer: Informer<unknown>, value: unknown): CachedObject | undefined {
  // What a view that keeps whole objects returns is one.
  if (keepsWholeObjects(informer.view)) return { object: value as KubernetesObject, isComplete: true };
  const metadata = (value as Partial<KubernetesObject> | null)?.metadata;
  return metadata?.uid && metadata.resourceVersion ? { object: { metadata }, isComplete: false } : undefined;
}

/** Selectors choose by what an object says, and projections and triggers may drop any. */
function wouldKeep({ scope, view }: Informer<unknown>, desired: KubernetesObject): boolean {
  if (!scope.matches(desired)) return false;
  if (view === 'metadata' || keepsWholeObjects(view)) return true;
  try {
    return codecOf(view, { freeze: false, pausedAnnotation: undefined }).encode(desired, false) !== undefined;
  } catch {
    // Made for objects as they are stored.
    return false;
  }
}

function keepsAll({ scope, view }: Informer<unknown>): boolean {
  if (scope.labelSelector !== undefined || scope.fieldSelector !== undefined) return false;
  return view === 'metadata' || keepsWholeObjects(view);
}
