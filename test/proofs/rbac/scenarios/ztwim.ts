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
import { Route } from '../../../../operators/ztwim/src/third-party/route.ts';
import { SecurityContextConstraints } from '../../../../operators/ztwim/src/third-party/security-context-constraints.ts';
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
  { kind: ClusterRole, name: 'spire-server', body: { rules: [] } },
  { kind: ClusterRoleBinding, name: 'spire-server', body: { subjects: [] } },
  { kind: Role, name: 'spire-bundle', body: { rules: [] } },
  { kind: RoleBinding, name: 'spire-bundle', body: { subjects: [] } },
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
];

const SERVER = {
  replicas: 2,
  datastore: { databaseType: 'postgres', connectionString: 'host=db' },
  federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { servingCert: {} } } },
  ingress: {},
};

/** All objects are created and repaired, a value is propagated twice, and everything is deleted. */
async function play(stage: Stage, namespace: string, children: readonly Child[]): Promise<void> {
  const { admin } = stage;
  const central = { trustDomain: 'example.io', clusterName: 'one', jwtIssuer: 'https://oidc.example.io' };
  await create(admin, ZeroTrustWorkloadIdentityManager, central);
  await create(admin, SpireServer, SERVER);
  for (const kind of OPERANDS.slice(1)) await create(admin, kind, {});
  const keyFor = ({ kind, name }: Child) => (kind.scope === 'Namespaced' ? { namespace, name } : { name });
  for (const child of children) await stage.until(child.kind, keyFor(child), () => true);
  for (const child of children) await repairs(stage, child, keyFor(child));
  await repairsAuthority(stage);
  for (const [index, clusterName] of ['two', 'three', 'four'].entries()) {
    await stage.idle();
    const body = { spec: { clusterName } };
    await admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
    await stage.until(SpireAgent, KEY, ({ spec }) => spec.clusterName === clusterName);
    if (index > 0) await untilPropagated(stage, index);
  }
  await admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
  await stage.untilGone(ZeroTrustWorkloadIdentityManager, KEY);
  for (const kind of OPERANDS) await stage.untilGone(kind, KEY);
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

/** The kinds of OpenShift that the operator uses, which have no schema here. */
async function installOpenShiftKinds(admin: Client): Promise<void> {
  for (const { group, version, kind, plural, scope } of [Route, SecurityContextConstraints] as const) {
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

/** The permissions on the kinds of OpenShift are needed there alone. */
function isOpenShift(permission: string | undefined): boolean {
  return permission?.includes('.openshift.io') === true && !permission.includes('operator.openshift.io');
}

export const ztwimScenario: Scenario = {
  operator: ztwim,
  isExclusive: true,
  prepare: installOpenShiftKinds,
  open: (controlPlane, permission) => {
    const platform = isOpenShift(permission) ? 'openshift' : 'kubernetes';
    // After the names of other namespaces, so that the Roles have the same order in every run.
    const operandNamespace = `zz-operands-${++runs}`;
    const children = [...CHILDREN, ...(platform === 'openshift' ? ON_OPENSHIFT : ON_KUBERNETES)];
    return {
      config: { platform, operandNamespace },
      play: (stage) => play(stage, operandNamespace, children),
      async [Symbol.asyncDispose]() {
        await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
        await removeLeftovers(admin);
      },
    };
  },
};
