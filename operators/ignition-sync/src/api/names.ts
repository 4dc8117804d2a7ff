import { shortenName } from '@bowline/machinery';

/**
 * OPERATOR is the identity of the operator. Its Lease, field managers and other names are derived from it. They are
 * API.
 */
export const OPERATOR = { name: 'ignition-sync', domain: 'bowline.dev' } as const;

/** GROUP is the API group of the kinds. */
export const GROUP = 'sync.ignition.io';

/** VERSION is the version of the kinds. */
export const VERSION = 'v1alpha1';

/** DOMAIN is the prefix of the annotations and labels of the operator. They are part of stored objects. */
export const DOMAIN = 'ignition-sync.io';

/** FINALIZER is the finalizer of an IgnitionSync. It is part of stored objects. */
export const FINALIZER = `${DOMAIN}/finalizer`;

/** MAX_NAME_LENGTH is the maximum length of the name of an IgnitionSync: derived names have at most 253 characters. */
export const MAX_NAME_LENGTH = 220;

/** POD_ANNOTATIONS are the annotations by which a pod requests an agent and configures it. */
export const POD_ANNOTATIONS = {
  /** "true" requests an agent. */
  inject: `${DOMAIN}/inject`,
  /** The IgnitionSync. Defaults to the only one in the namespace. */
  crName: `${DOMAIN}/cr-name`,
  /** The folder of the gateway in the repository; `.` is the repository itself. */
  servicePath: `${DOMAIN}/service-path`,
  gatewayName: `${DOMAIN}/gateway-name`,
  /** The folder of config/resources that is placed onto core. */
  deploymentMode: `${DOMAIN}/deployment-mode`,
  /** Defaults to `default`. */
  tagProvider: `${DOMAIN}/tag-provider`,
  /** In seconds. Defaults to 30. */
  syncPeriod: `${DOMAIN}/sync-period`,
  /** Globs, separated by commas, in addition to those of the IgnitionSync. */
  excludePatterns: `${DOMAIN}/exclude-patterns`,
  systemName: `${DOMAIN}/system-name`,
  /** Defaults to `{{.GatewayName}}`. */
  systemNameTemplate: `${DOMAIN}/system-name-template`,
  /** Tag providers, separated by commas, whose folders are not synced. */
  excludeTagProviders: `${DOMAIN}/exclude-tag-providers`,
  /** `full` or `leaf-only`. */
  tagInheritanceStrategy: `${DOMAIN}/tag-inheritance-strategy`,
  redundancyRole: `${DOMAIN}/redundancy-role`,
  peerGatewayName: `${DOMAIN}/peer-gateway-name`,
  /** The SyncProfile. */
  syncProfile: `${DOMAIN}/sync-profile`,
  /** Syncs this pod to another ref. */
  refOverride: `${DOMAIN}/ref-override`,
  /** The volume with the data folder of the gateway. */
  dataVolume: `${DOMAIN}/data-volume`,
} as const;

/** INJECTION_ANNOTATIONS are the annotations by which the injection webhook records what it did. */
export const INJECTION_ANNOTATIONS = {
  injected: `${DOMAIN}/injected`,
  /** Why no agent was injected. */
  notInjected: `${DOMAIN}/not-injected`,
} as const;

/** CR_ANNOTATIONS are the annotations by which receivers and users request something of an IgnitionSync. */
export const CR_ANNOTATIONS = {
  /** Takes precedence over spec.git.ref until that becomes equal or changes. */
  requestedRef: `${DOMAIN}/requested-ref`,
  /** RFC 3339, in UTC. */
  requestedAt: `${DOMAIN}/requested-at`,
  /** One of REQUEST_SOURCES. */
  requestedBy: `${DOMAIN}/requested-by`,
  /** The new head of the ref, after a push. */
  requestedCommit: `${DOMAIN}/requested-commit`,
  /** The commit, with all its digits, that may be synced to stages that require an approval. */
  approvedCommit: `${DOMAIN}/approved-commit`,
  approvedBy: `${DOMAIN}/approved-by`,
  /** Any new value repeats what was given up. */
  retry: `${DOMAIN}/retry`,
} as const;

/** REQUEST_SOURCES are the values of the annotation `requestedBy`. */
export const REQUEST_SOURCES = ['github', 'gitlab', 'gitea', 'bitbucket', 'argocd', 'kargo', 'generic'] as const;

/** LABELS are the labels of the operator. */
export const LABELS = {
  /** On objects of an IgnitionSync: its name, as `labelValueOf` writes it. */
  crName: `${DOMAIN}/cr-name`,
  /** "true" on pods with an agent. */
  agent: `${DOMAIN}/agent`,
  /** `enabled` on namespaces with injection, if the operator requires it. */
  injection: `${DOMAIN}/injection`,
} as const;

/** MANAGER is the value of the label app.kubernetes.io/managed-by on objects of an IgnitionSync. */
export const MANAGER = 'ignition-sync-controller';

/** AGENT_CONTAINER is the name of the injected container. */
export const AGENT_CONTAINER = 'ignition-sync-agent';

/** GLOBAL_PAUSE is the ConfigMap in the manager's namespace that pauses every IgnitionSync, and its key. */
export const GLOBAL_PAUSE = { name: 'ignition-sync-global-pause', key: 'paused' } as const;

const MAX_LABEL_LENGTH = 63;

/** labelValueOf returns the name of an IgnitionSync as a label value. A name that is too long gets a hash suffix. */
export function labelValueOf(cr: string): string {
  return shortenName(cr, MAX_LABEL_LENGTH);
}

/** ObjectNames holds the names of the objects of an IgnitionSync. */
export interface ObjectNames {
  /** The PersistentVolumeClaim that agents share. */
  readonly claim: string;
  /** The ConfigMap that agents read. */
  readonly metadata: string;
  /** The ConfigMap in which agents report. */
  readonly status: string;
  /** The ConfigMap in which agents send changes of gateways. */
  readonly changes: string;
  /** The Role and RoleBinding of agents. */
  readonly agent: string;
  /** The Secret with the token of a GitHub App. */
  readonly githubToken: string;
}

/** objectNames returns the names of the objects of an IgnitionSync. They are API. */
export function objectNames(cr: string): ObjectNames {
  return {
    claim: `ignition-sync-repo-${cr}`,
    metadata: `ignition-sync-metadata-${cr}`,
    status: `ignition-sync-status-${cr}`,
    changes: `ignition-sync-changes-${cr}`,
    agent: `ignition-sync-agent-${cr}`,
    githubToken: `ignition-sync-github-token-${cr}`,
  };
}
