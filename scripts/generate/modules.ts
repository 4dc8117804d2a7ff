/** GroupVersion is one API group in one version. */
export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}

/**
 * COVERED lists the group-versions that the package covers, each completely. Left out, because nothing in the suite
 * uses them: flowcontrol.apiserver.k8s.io, resource.k8s.io, internal.apiserver.k8s.io, and every alpha and beta
 * version.
 */
export const COVERED: readonly GroupVersion[] = [
  { group: '', version: 'v1' },
  { group: 'admissionregistration.k8s.io', version: 'v1' },
  { group: 'apiextensions.k8s.io', version: 'v1' },
  { group: 'apiregistration.k8s.io', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'authentication.k8s.io', version: 'v1' },
  { group: 'authorization.k8s.io', version: 'v1' },
  { group: 'autoscaling', version: 'v1' },
  { group: 'autoscaling', version: 'v2' },
  { group: 'batch', version: 'v1' },
  { group: 'certificates.k8s.io', version: 'v1' },
  { group: 'coordination.k8s.io', version: 'v1' },
  { group: 'discovery.k8s.io', version: 'v1' },
  { group: 'events.k8s.io', version: 'v1' },
  { group: 'networking.k8s.io', version: 'v1' },
  { group: 'node.k8s.io', version: 'v1' },
  { group: 'policy', version: 'v1' },
  { group: 'rbac.authorization.k8s.io', version: 'v1' },
  { group: 'scheduling.k8s.io', version: 'v1' },
  { group: 'storage.k8s.io', version: 'v1' },
];

/**
 * META is the module of the types that all groups share (ObjectMeta, Status, …). The server has no separate document
 * for it.
 */
export const META = 'meta-v1';

/** CORE is the module of the core group. */
export const CORE = 'core-v1';

/**
 * PLAIN_NAMES selects, for a name that several modules define, which one the package entry exports: the one that
 * operators nearly always need. The others are available through the subpath of their module.
 */
export const PLAIN_NAMES: Readonly<Record<string, string | undefined>> = {
  CrossVersionObjectReference: 'autoscaling-v2',
  EndpointPort: CORE,
  Event: CORE,
  EventList: CORE,
  EventSeries: CORE,
  HorizontalPodAutoscaler: 'autoscaling-v2',
  HorizontalPodAutoscalerList: 'autoscaling-v2',
  HorizontalPodAutoscalerSpec: 'autoscaling-v2',
  HorizontalPodAutoscalerStatus: 'autoscaling-v2',
  ServiceReference: 'admissionregistration-v1',
  TokenRequest: 'authentication-v1',
  WebhookClientConfig: 'admissionregistration-v1',
};

/**
 * moduleName returns the file name and subpath of a group-version: the group's first label and the version, `rbac-v1`.
 */
export function moduleName({ group, version }: GroupVersion): string {
  return `${group === '' ? 'core' : group.split('.', 1)[0]}-${version}`;
}

/** apiPath returns the path of a group-version on the server, without the leading slash: `api/v1`, `apis/apps/v1`. */
export function apiPath({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

/** apiVersion returns the `apiVersion` of objects of a group-version. */
export function apiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Definition locates a definition among the modules. */
export interface Definition {
  readonly module: string;
  readonly name: string;
}

const IN_GROUP_VERSION = /\.([a-z]+)\.(v[0-9][a-z0-9]*)\.([A-Za-z0-9]+)$/;
const IN_MACHINERY = /^io\.k8s\.apimachinery\..*\.([A-Za-z0-9]+)$/;

/** parseDefinition splits the server's full name: `io.k8s.api.rbac.v1.Subject` is `Subject` of `rbac-v1`. */
export function parseDefinition(fullName: string): Definition {
  const shared = IN_MACHINERY.exec(fullName)?.[1];
  if (shared !== undefined) return { module: META, name: shared };
  const [, group, version, name] = IN_GROUP_VERSION.exec(fullName) ?? [];
  if (group === undefined || version === undefined || name === undefined) {
    throw new Error(`definition ${fullName} belongs to no group-version; add its name to parseDefinition`);
  }
  return { module: `${group}-${version}`, name };
}
