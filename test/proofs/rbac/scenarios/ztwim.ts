import { isDeepStrictEqual } from 'node:util';
import { connectClient } from '@bowline/control-plane';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Ingress,
  type KubernetesObject,
  keyOf,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { type Client, isNotFound } from '@bowline/runtime/client';
import {
  SpiffeCSIDriver,
  SpireAgent,
  SpireOIDCDiscoveryProvider,
  SpireServer,
  ZeroTrustWorkloadIdentityManager,
  ztwim,
} from '@bowline/ztwim';
import { ClusterSPIFFEID } from '../../../../operators/ztwim/src/third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../../../../operators/ztwim/src/third-party/gateway-routes.ts';
import { Route } from '../../../../operators/ztwim/src/third-party/route.ts';
import { SecurityContextConstraints } from '../../../../operators/ztwim/src/third-party/security-context-constraints.ts';
import { VolumeSnapshot } from '../../../../operators/ztwim/src/third-party/volume-snapshot.ts';
import type { Scenario, Stage } from '../scenario.ts';

const KEY = { name: 'cluster' };
const DAMAGED = Buffer.from('damaged').toString('base64');
const OPERANDS: readonly Resource<KubernetesObject>[] = [
  SpireServer,
  SpireAgent,
  SpiffeCSIDriver,
  SpireOIDCDiscoveryProvider,
];
/** The cluster-scoped kinds that the operator creates, and that a broken one leaves. */
const CLUSTER_SCOPED: readonly Resource<KubernetesObject>[] = [
  ClusterRole,
  ClusterRoleBinding,
  ValidatingWebhookConfiguration,
  CSIDriver,
  ClusterSPIFFEID,
  SecurityContextConstraints,
];
const labelSelector = 'app.kubernetes.io/managed-by=bowline-ztwim';

/** Child is an object of the operator with a change that has to be reverted. */
interface Child {
  readonly kind: Resource<KubernetesObject>;
  readonly name: string;
  readonly body: object;
}

const relabelled = { metadata: { labels: { 'app.kubernetes.io/version': 'drift' } } };

const CHILDREN: readonly Child[] = [
  { kind: ServiceAccount, name: 'spire-server', body: relabelled },
  { kind: Service, name: 'spire-server', body: { spec: { selector: { drift: 'x' } } } },
  ...['spire-server', 'spire-controller-manager', 'spire-agent'].flatMap((name) => [
    { kind: ClusterRole, name, body: { rules: [] } },
    { kind: ClusterRoleBinding, name, body: { subjects: [] } },
  ]),
  ...['spire-bundle', 'spire-controller-manager-leader-election'].flatMap((name) => [
    { kind: Role, name, body: { rules: [] } },
    { kind: RoleBinding, name, body: { subjects: [] } },
  ]),
  { kind: ConfigMap, name: 'spire-server', body: { data: { 'server.conf': '{}' } } },
  { kind: ValidatingWebhookConfiguration, name: 'spire-controller-manager-webhook', body: relabelled },
  { kind: PodDisruptionBudget, name: 'spire-server', body: relabelled },
  { kind: ClusterSPIFFEID, name: 'zero-trust-workload-identity-manager-spire-default', body: relabelled },
  { kind: StatefulSet, name: 'spire-server', body: { spec: { replicas: 4 } } },
  { kind: DaemonSet, name: 'spire-agent', body: { spec: { template: { spec: { hostPID: false } } } } },
  { kind: CSIDriver, name: 'csi.spiffe.io', body: relabelled },
  { kind: Deployment, name: 'spire-spiffe-oidc-discovery-provider', body: { spec: { replicas: 4 } } },
];
const ON_KUBERNETES: readonly Child[] = [
  { kind: Ingress, name: 'spire-server-federation', body: relabelled },
  { kind: Secret, name: 'spire-server-serving-cert', body: { data: { 'tls.crt': DAMAGED } } },
];
const ON_OPENSHIFT: readonly Child[] = [
  { kind: Route, name: 'spire-server-federation', body: { spec: { host: 'drift.example.io' } } },
  { kind: SecurityContextConstraints, name: 'spire-agent', body: { users: [] } },
  { kind: SecurityContextConstraints, name: 'spire-spiffe-csi-driver', body: { users: [] } },
];

const SERVER = {
  replicas: 2,
  datastore: { databaseType: 'postgres', connectionString: 'host=db' },
  federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { servingCert: {} } } },
  ingress: {},
};

/** Play is what happens in a case. */
interface Play {
  readonly platform: 'kubernetes' | 'openshift';
  readonly server: object;
  readonly provider: object;
  readonly children: readonly Child[];
  /** The names of the claims of servers, of which snapshots are taken. */
  readonly claims: readonly string[];
}

const REPLICAS = 5;

/** playFor returns what needs a permission; some are needed only with settings that most users do not have. */
function playFor(permission = ''): Play {
  const isOpenShift = permission.includes('.openshift.io') && !permission.includes('operator.openshift.io');
  const gatewayRoute = [TLSRoute, HTTPRoute].find(({ plural }) => permission.includes(`${plural}.`));
  const hasBackup = /persistentvolumeclaims|volumesnapshots/.test(permission);
  const deletion = { persistentVolumeClaims: 'Delete', backup: 'VolumeSnapshot' };
  return {
    platform: isOpenShift ? 'openshift' : 'kubernetes',
    server: { ...SERVER, ...(hasBackup ? { replicas: REPLICAS, deletion } : {}) },
    provider: gatewayRoute ? { gateway: { name: 'public', namespace: 'gateways', kind: gatewayRoute.kind } } : {},
    children: [
      ...CHILDREN,
      ...(isOpenShift ? ON_OPENSHIFT : ON_KUBERNETES),
      ...(gatewayRoute ? [{ kind: gatewayRoute, name: 'spire-oidc-discovery-provider', body: relabelled }] : []),
    ],
    claims: hasBackup ? Array.from({ length: REPLICAS }, (_, server) => `spire-data-spire-server-${server}`) : [],
  };
}

/** All objects are created and repaired, a value is propagated twice, and everything is deleted. */
async function play(stage: Stage, namespace: string, given: Play): Promise<void> {
  const { platform, server, provider, children, claims } = given;
  const { admin } = stage;
  const central = { trustDomain: 'example.io', clusterName: 'one', jwtIssuer: 'https://oidc.example.io' };
  await create(admin, ZeroTrustWorkloadIdentityManager, central);
  await create(admin, SpireServer, server);
  for (const kind of [SpireAgent, SpiffeCSIDriver]) await create(admin, kind, {});
  await create(admin, SpireOIDCDiscoveryProvider, provider);
  // No controller creates the claims of the StatefulSet here.
  for (const name of claims) await createClaim(admin, { namespace, name });
  const keyFor = ({ kind, name }: Child) => (kind.scope === 'Namespaced' ? { namespace, name } : { name });
  for (const child of children) await stage.until(child.kind, keyFor(child), () => true);
  // Nothing else depends on it: without this, a status that is refused would not be noticed in every run.
  for (const kind of [ZeroTrustWorkloadIdentityManager, ...OPERANDS]) await stage.until(kind, KEY, hasConditions);
  for (const child of children) await repairs(stage, child, keyFor(child));
  // On OpenShift, the platform issues the certificates.
  if (platform === 'kubernetes') await repairsAuthority(stage);
  for (const [index, clusterName] of ['two', 'three', 'four'].entries()) {
    await stage.idle();
    const body = { spec: { clusterName } };
    await admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
    await stage.until(SpireAgent, KEY, ({ spec }) => spec.clusterName === clusterName);
    if (index > 0) await untilPropagated(stage, index);
  }
  await admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
  if (claims.length > 0) await completeSnapshots(stage, namespace);
  await stage.untilGone(ZeroTrustWorkloadIdentityManager, KEY);
  for (const kind of OPERANDS) await stage.untilGone(kind, KEY);
  await stage.untilList(PersistentVolumeClaim, { namespace }, (items) =>
    items.every(({ metadata }) => metadata?.deletionTimestamp !== undefined),
  );
}

function hasConditions(object: KubernetesObject & { readonly status?: { readonly conditions?: unknown } }): boolean {
  return object.status?.conditions !== undefined;
}

async function createClaim(
  admin: Client,
  metadata: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await admin.create(PersistentVolumeClaim, { metadata, spec });
}

/** completeSnapshots does the work of a storage provider. */
async function completeSnapshots({ admin, untilList }: Stage, namespace: string): Promise<void> {
  const snapshots = await untilList(VolumeSnapshot, { namespace }, (items) => items.length === REPLICAS);
  const body = { status: { readyToUse: true } };
  for (const snapshot of snapshots) await admin.patch(VolumeSnapshot, keyOf(snapshot), { type: 'merge', body });
}

async function create(admin: Client, kind: Resource<KubernetesObject>, spec: object): Promise<void> {
  await admin.create(kind, { metadata: KEY, spec } as KubernetesObject);
}

/** repairs waits until a change is reverted: the object has its content again, except for its metadata. */
async function repairs(
  stage: Stage,
  { kind, body }: Child,
  key: { readonly namespace?: string; readonly name: string },
): Promise<void> {
  const before = contentOf(await stage.until(kind, key, () => true));
  await stage.admin.patch(kind, key, { type: 'merge', body });
  const isRepaired = (object: KubernetesObject): boolean =>
    kind.id === Secret.id ? !JSON.stringify(object).includes(DAMAGED) : isDeepStrictEqual(contentOf(object), before);
  await stage.until(kind, key, isRepaired);
}

function contentOf(object: KubernetesObject): readonly unknown[] {
  const { metadata = {}, status: _, ...content } = object as KubernetesObject & { readonly status?: unknown };
  return [metadata.labels, content];
}

/** A damaged certificate authority is replaced. */
async function repairsAuthority(stage: Stage): Promise<void> {
  const key = { namespace: stage.managerNamespace, name: 'ztwim-serving-ca' };
  await stage.admin.patch(Secret, key, { type: 'merge', body: { data: { 'tls.crt': DAMAGED } } });
  await stage.until(Secret, key, ({ data }) => data?.['tls.crt'] !== DAMAGED);
}

/** The events of cluster-scoped objects are in the namespace `default`. The same one is counted, which is a patch. */
async function untilPropagated(stage: Stage, times: number): Promise<void> {
  await stage.untilList(Event, { namespace: 'default' }, (events) =>
    events.some(({ reason, note, series }) => {
      if (reason !== 'ConfigPropagated' || !note?.startsWith('SpireAgent')) return false;
      return (series?.count ?? 1) >= times;
    }),
  );
}

/** The third-party kinds that the operator uses, which have no schema here. */
async function installThirdPartyKinds(admin: Client): Promise<void> {
  const kinds = [Route, SecurityContextConstraints, TLSRoute, HTTPRoute, VolumeSnapshot] as const;
  for (const { group, version, kind, plural, scope } of kinds) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await admin.create(CustomResourceDefinition, {
      metadata: {
        name: `${plural}.${group}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, only in a test' },
      },
      spec: {
        group,
        scope,
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
  }
}

/** removeLeftovers removes what an operator that was not allowed to work left. */
async function removeLeftovers(admin: Client): Promise<void> {
  const ignoreNotFound = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  for (const kind of [ZeroTrustWorkloadIdentityManager, ...OPERANDS]) {
    await admin.delete<KubernetesObject>(kind, KEY).catch(ignoreNotFound);
    const body = { metadata: { finalizers: null } };
    await admin.patch<KubernetesObject>(kind, KEY, { type: 'merge', body }).catch(ignoreNotFound);
  }
  for (const kind of CLUSTER_SCOPED) {
    const { items } = await admin.list(kind, { labelSelector });
    for (const object of items) await admin.delete(kind, keyOf(object)).catch(ignoreNotFound);
  }
  // The same event of the next run would be counted up.
  for (const object of (await admin.list(Event, { namespace: 'default' })).items) {
    await admin.delete(Event, keyOf(object)).catch(ignoreNotFound);
  }
}

let runs = 0;

export const ztwimScenario: Scenario = {
  operator: ztwim,
  isExclusive: true,
  prepare: installThirdPartyKinds,
  open: (controlPlane, permission) => {
    const wanted = playFor(permission);
    // After the names of other namespaces, so that the Roles have the same order in every run.
    const operandNamespace = `zz-operands-${++runs}`;
    return {
      config: { platform: wanted.platform, operandNamespace },
      play: (stage) => play(stage, operandNamespace, wanted),
      async [Symbol.asyncDispose]() {
        await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
        await removeLeftovers(admin);
      },
    };
  },
};
