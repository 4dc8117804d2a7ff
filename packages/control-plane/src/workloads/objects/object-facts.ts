import type { ObjectMeta, OwnerReference } from '@bowline/kubernetes';

/** ObjectFacts is all that the controllers of everything keep of an object, for as long as they must. */
export interface ObjectFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly isDeleting: boolean;
  /** Deletion waits for the dependents. */
  readonly isForeground: boolean;
  /** Deletion waits until the dependents have forgotten the object. */
  readonly isOrphaning: boolean;
}

/** FOREGROUND keeps an owner until its dependents are gone. */
export const FOREGROUND = 'foregroundDeletion';

/** ORPHAN keeps an owner until its dependents no longer refer to it. */
export const ORPHAN = 'orphan';

const NONE: readonly never[] = Object.freeze([]);

/** factsOf reads an object's metadata. */
export function factsOf(metadata: ObjectMeta): ObjectFacts {
  const { uid = '', name = '', namespace, ownerReferences, deletionTimestamp, finalizers } = metadata;
  const isDeleting = deletionTimestamp !== undefined;
  return {
    uid,
    name,
    namespace,
    owners: ownerReferences?.length ? ownerReferences : NONE,
    isDeleting,
    isForeground: isDeleting && (finalizers?.includes(FOREGROUND) ?? false),
    isOrphaning: isDeleting && (finalizers?.includes(ORPHAN) ?? false),
  };
}
