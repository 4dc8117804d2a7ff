import { operatorIdentity } from '@bowline/runtime/install';

/**
 * OPERATOR is the identity of the operator. Its Lease, field managers and other names are derived from it. They are
 * API.
 */
export const OPERATOR = { name: 'jasm', domain: 'bowline.dev' } as const;

/** PAUSED, set to "true" on a Secret, stops the operator from changing that Secret. */
export const PAUSED: string = operatorIdentity(OPERATOR).annotations.paused;

/** PREFIX is the prefix of every label and annotation of the operator. They are API. */
export const PREFIX = 'jasm.codnod.io';

export { MANAGED_BY } from '@bowline/runtime/install';

/**
 * OUR_MANAGERS are the values of the label `MANAGED_BY` that make a Secret ours. The first is the default for new
 * Secrets.
 */
export const OUR_MANAGERS = ['caronte', 'jasm'] as const;

/** POD_ANNOTATIONS are the annotations by which a pod requests secrets. */
export const POD_ANNOTATIONS = {
  /** The requested secrets, with their sources and target Secrets: YAML or JSON. */
  secretSync: `${PREFIX}/secret-sync`,
  /** Any value; a value that the Secret has not recorded causes a new read. */
  forceSync: `${PREFIX}/force-sync`,
} as const;

/**
 * NAMESPACE_ANNOTATIONS are the annotations by which the owner of a namespace restricts or configures what its pods may
 * request.
 */
export const NAMESPACE_ANNOTATIONS = {
  /** Globs of the paths that its pods may name, separated by commas. */
  permittedPaths: `${PREFIX}/permitted-paths`,
  /**
   * `true` or `false`: whether workloads are restarted when their Secret changes, unless the pod's annotation sets it.
   */
  restart: `${PREFIX}/restart`,
} as const;

/** CONSENT_ANNOTATIONS are the annotations by which the owner of a Secret allows us to read or write it. */
export const CONSENT_ANNOTATIONS = {
  /** On a Secret that is a source: globs of the namespaces that may read its content, separated by commas. */
  sharedWith: `${PREFIX}/shared-with`,
  /** `"true"` on a Secret that is not ours: keys may be merged into it. */
  mergeAllowed: `${PREFIX}/merge-allowed`,
} as const;

/** SECRET_LABELS are the labels of a Secret that we write, in addition to `MANAGED_BY`. */
export const SECRET_LABELS = {
  provider: `${PREFIX}/provider`,
} as const;

/** SECRET_ANNOTATIONS record the last sync of a Secret. */
export const SECRET_ANNOTATIONS = {
  sourcePath: `${PREFIX}/source-path`,
  /** When its content was last written, RFC 3339. */
  syncedAt: `${PREFIX}/synced-at`,
  /** The version of the source, as reported by its store. */
  version: `${PREFIX}/version`,
  /** The hash of the content that was written. A live hash that differs is drift. */
  dataHash: `${PREFIX}/data-hash`,
  /** The hash of everything in the request that determines the content: another hash means other content. */
  requestHash: `${PREFIX}/request-hash`,
  /** The values of `force-sync` that were last satisfied, with their pods or workloads. */
  forced: `${PREFIX}/forced`,
  /** `Delete` if every requester sets it. */
  deletionPolicy: `${PREFIX}/deletion-policy`,
  /** The workload whose request it serves: it keeps the Secret when its request changes. */
  askedBy: `${PREFIX}/asked-by`,
  /** The hash of the content, if workloads must be restarted for it because it replaced other content. */
  restartFor: `${PREFIX}/restart-for`,
  /** On a Secret that is not ours: the keys that we wrote, which only we remove. */
  managedKeys: `${PREFIX}/managed-keys`,
} as const;

/**
 * RESTARTED_FOR is the prefix of the annotation, in a workload's pod template, that restarts its pods for new content
 * of a Secret. The name of the Secret follows.
 */
export const RESTARTED_FOR = `${PREFIX}/restarted-for-`;
