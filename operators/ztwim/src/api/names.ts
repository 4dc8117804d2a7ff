/** GROUP is the API group of the kinds. */
export const GROUP = 'operator.openshift.io';

/** VERSION is the version of the kinds. */
export const VERSION = 'v1alpha1';

/** SINGLETON is the only name that an object of the kinds can have. */
export const SINGLETON = 'cluster';

/** FINALIZERS are the finalizers by controller. They are part of stored objects. */
export const FINALIZERS = {
  config: 'ztwim.io/operand-lifecycle',
  server: 'ztwim.io/spire-server-cleanup',
  agent: 'ztwim.io/spire-agent-cleanup',
  csi: 'ztwim.io/spiffe-csi-cleanup',
  oidc: 'ztwim.io/oidc-cleanup',
} as const;

/** ANNOTATIONS are the annotations that the operator reads or writes on its kinds and their objects. */
export const ANNOTATIONS = {
  /** On an operand, as JSON: the fields of its spec that follow the ZeroTrustWorkloadIdentityManager, with their values. */
  inherited: 'ztwim.io/inherited',
  /** On an operand: "false" if shared values are not to be written into its spec. */
  inheritIntoSpec: 'ztwim.io/inherit-into-spec',
  /** On the SpireServer, as JSON: the identities that were rendered before. */
  history: 'ztwim.io/history',
  /** On an object of an operand: "true" if the object is created, but never changed. */
  createOnly: 'ztwim.io/create-only',
  /** On the Secret of a certificate that the operator issued, as JSON: what it was issued for, and when to check it. */
  issued: 'ztwim.io/issued',
  /** On the ZeroTrustWorkloadIdentityManager: how its migration is controlled. */
  migration: 'ztwim.io/migration',
  /** On the ZeroTrustWorkloadIdentityManager, as JSON: which of its values were migrated, and where the backup is. */
  migrated: 'ztwim.io/migrated',
} as const;

/** REPLACED_LABEL marks a bundle ConfigMap that is no longer in use. */
export const REPLACED_LABEL = 'ztwim.io/replaced';

/** MANAGER is the value of the label app.kubernetes.io/managed-by of every object that the operator creates. */
export const MANAGER = 'bowline-ztwim';
