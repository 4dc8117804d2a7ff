import type { ObjectMeta, OwnerReference } from '@bowline/kubernetes';

/** ObjectFacts holds all that the controllers of every kind keep of an object, for as long as they need it. */
export interface ObjectFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly isDeleting: boolean;
  /** Whether the deletion waits for the dependents to be deleted. */
  readonly isForeground: boolean;
  /** Whether the deletion waits until the dependents no longer refer to the object. */
  readonly isOrphaning: boolean;
}

/** FOREGROUND is the finalizer that keeps an owner until its dependents are gone. */
export const FOREGROUND = 'foregroundDeletion';

/** ORPHAN is the finalizer that keeps an owner until its dependents no longer refer to it. */
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
