import { operatorIdentity } from '@bowline/runtime/install';

/** OPERATOR is who the operator is. Its Lease, field managers and other names follow from it. They are API. */
export const OPERATOR = { name: 'jasm', domain: 'bowline.dev' } as const;

/** PAUSED, set to "true" on a Secret, makes the operator leave that Secret alone. */
export const PAUSED: string = operatorIdentity(OPERATOR).annotations.paused;

/** PREFIX begins every label and annotation of the operator. They are API. */
export const PREFIX = 'jasm.codnod.io';

export { MANAGED_BY } from '@bowline/runtime/install';

/** OUR_MANAGERS are the values of the label `MANAGED_BY` that make a Secret ours. The first is written unless told otherwise. */
export const OUR_MANAGERS = ['caronte', 'jasm'] as const;

/** POD_ANNOTATIONS are those by which a pod asks. */
export const POD_ANNOTATIONS = {
  /** Which secrets, from where and into which Secrets: YAML or JSON. */
  secretSync: `${PREFIX}/secret-sync`,
  /** Any value; another one than the Secret remembers makes us read anew. */
  forceSync: `${PREFIX}/force-sync`,
} as const;

/** NAMESPACE_ANNOTATIONS are those by which a namespace's owner narrows or steers what its pods may ask. */
export const NAMESPACE_ANNOTATIONS = {
  /** Globs of the paths that its pods may name, separated by commas. */
  permittedPaths: `${PREFIX}/permitted-paths`,
  /** `true` or `false`: whether workloads are restarted when a Secret of theirs changes, where the pod does not say. */
  restart: `${PREFIX}/restart`,
} as const;

/** CONSENT_ANNOTATIONS are those by which the owner of a Secret lets us read or write it. */
export const CONSENT_ANNOTATIONS = {
  /** On a Secret that is a source: globs of the namespaces that may have its content, separated by commas. */
  sharedWith: `${PREFIX}/shared-with`,
  /** `"true"` on a Secret that is not ours: keys may be merged into it. */
  mergeAllowed: `${PREFIX}/merge-allowed`,
} as const;

/** SECRET_LABELS are those of a Secret that we write, beside `MANAGED_BY`. */
export const SECRET_LABELS = {
  provider: `${PREFIX}/provider`,
} as const;

/** SECRET_ANNOTATIONS are what a Secret remembers about its last sync. */
export const SECRET_ANNOTATIONS = {
  sourcePath: `${PREFIX}/source-path`,
  /** When its content was last written, RFC 3339. */
  syncedAt: `${PREFIX}/synced-at`,
  /** The source's version, as its store names it. */
  version: `${PREFIX}/version`,
  /** The hash of the content that was written. A live hash that differs is drift. */
  dataHash: `${PREFIX}/data-hash`,
  /** The hash of everything in the request that decides the content: another one means another content. */
  requestHash: `${PREFIX}/request-hash`,
  /** The values of `force-sync` that were obeyed last, and whose they were. */
  forced: `${PREFIX}/forced`,
  /** `Delete` when every asker said so. */
  deletionPolicy: `${PREFIX}/deletion-policy`,
  /** The workload whose request it serves: it keeps the Secret when its request changes. */
  askedBy: `${PREFIX}/asked-by`,
  /** The hash of the content, when workloads are to be restarted for it: it took the place of another. */
  restartFor: `${PREFIX}/restart-for`,
  /** In a Secret that is not ours: the keys that we wrote, and with them whose removal is ours to do. */
  managedKeys: `${PREFIX}/managed-keys`,
} as const;

/**
 * RESTARTED_FOR begins the annotation, in a workload's pod template, that restarts its pods for a content of a Secret: the name of
 * the Secret follows.
 */
export const RESTARTED_FOR = `${PREFIX}/restarted-for-`;
