import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '@bowline/kubernetes';

/** Change is an object before and after an event: a creation has no `previous`, a deletion no `current`. */
export interface Change<V> {
  readonly previous: V | undefined;
  readonly current: V | undefined;
}

/**
 * Predicate decides whether a change causes work: true if it does. It receives every event of its source, including
 * those of the initial list. It only saves work: dropped objects are reconciled at the next resync, so a reconcile must
 * never rely on it.
 *
 * The predefined predicates filter updates and pass creations and deletions; see `matching` for selecting objects.
 */
export type Predicate<V> = (change: Change<V>) => boolean;

interface WithMetadata {
  readonly metadata?: ObjectMeta | undefined;
}

/**
 * changed returns a custom predicate for updates: true when `test` is. Creations and deletions pass.
 *
 * @example
 * .when(changed((previous: Pod, current: Pod) => previous.spec?.nodeName !== current.spec?.nodeName))
 */
export function changed<V>(test: (previous: V, current: V) => boolean): Predicate<V> {
  return ({ previous, current }) => previous === undefined || current === undefined || test(previous, current);
}

/**
 * matching selects objects: a change passes when the object matches before or after it, so that an object that stops
 * matching is noticed too. A label or field selector in the source's scope does the same on the server, at less cost.
 */
export function matching<V>(test: (object: V) => boolean): Predicate<V> {
  return ({ previous, current }) =>
    (current !== undefined && test(current)) || (previous !== undefined && test(previous));
}

/**
 * generationChanged passes updates of the spec: the API server counts those in `metadata.generation`. Kinds whose
 * objects have no generation (ConfigMap, Secret, Namespace, …) would never pass, so every update of them does.
 */
export const generationChanged: Predicate<WithMetadata> = changed((previous, current) => {
  const generation = current.metadata?.generation;
  return generation === undefined || generation !== previous.metadata?.generation;
});

/** annotationsChanged passes updates of the named annotations, or of any annotation when none is named. */
export function annotationsChanged(...keys: readonly string[]): Predicate<WithMetadata> {
  return changed((previous, current) =>
    entriesDiffer(previous.metadata?.annotations, current.metadata?.annotations, keys),
  );
}

/** labelsChanged passes updates of the named labels, or of any label when none is named. */
export function labelsChanged(...keys: readonly string[]): Predicate<WithMetadata> {
  return changed((previous, current) => entriesDiffer(previous.metadata?.labels, current.metadata?.labels, keys));
}

/** ownerReferencesChanged passes updates of the owner references. */
export const ownerReferencesChanged: Predicate<WithMetadata> = changed(
  (previous, current) =>
    !isDeepStrictEqual(previous.metadata?.ownerReferences ?? [], current.metadata?.ownerReferences ?? []),
);

/** statusChanged passes updates of the status. */
export const statusChanged: Predicate<{ readonly status?: unknown }> = changed(
  (previous, current) => !isDeepStrictEqual(previous.status, current.status),
);

/** anyOf passes changes that at least one of the predicates passes. */
export function anyOf<V>(...predicates: readonly Predicate<V>[]): Predicate<V> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** allOf passes changes that all predicates pass. */
export function allOf<V>(...predicates: readonly Predicate<V>[]): Predicate<V> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/**
 * not passes the updates that the predicate drops. Creations and deletions still pass: a key that is never seen is
 * never repaired.
 */
export function not<V>(predicate: Predicate<V>): Predicate<V> {
  return (change) => change.previous === undefined || change.current === undefined || !predicate(change);
}

type Entries = Readonly<Record<string, string>> | undefined;

function entriesDiffer(before: Entries, after: Entries, keys: readonly string[]): boolean {
  if (keys.length > 0) return keys.some((key) => before?.[key] !== after?.[key]);
  return !isDeepStrictEqual(before ?? {}, after ?? {});
}
