/** GROUP is the API group of the kinds. */
export const GROUP = 'sync.ignition.io';

/** VERSION is the version of the kinds. */
export const VERSION = 'v1alpha1';

/** DOMAIN is the prefix of the annotations and labels of the operator. They are part of stored objects. */
export const DOMAIN = 'ignition-sync.io';

/** FINALIZER is the finalizer of an IgnitionSync. It is part of stored objects. */
export const FINALIZER = `${DOMAIN}/finalizer`;
