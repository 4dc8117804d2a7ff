import type { ControlPlane } from '@bowline/control-plane';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Ingress,
  type KubernetesObject,
  type PolicyRule,
  type Resource,
  StatefulSet,
} from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { installDependencies, type RbacManifest } from '@bowline/runtime/install';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceleratedClock } from '../../../../test/support/fault-proxy/accelerated-clock.ts';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { MANAGER } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Child } from '../objects/child.ts';
import { ztwim } from '../operator.ts';
import { AGENT, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { findBrokenReferences } from '../testing/find-broken-references.test-support.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { Route } from '../third-party/route.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { CHILD_KINDS } from './child-kinds.test-support.ts';
import { KEY, start, workloadsLeft } from './deletion.test-support.ts';
import { DisturbedWatches } from './disturbed-watches.test-support.ts';

const startedAt = Date.now();
const watches = new DisturbedWatches();
/** What the operator is allowed. */
let granted: readonly RbacManifest[] = [];
let c: ZtwimCluster;

beforeAll(async () => {
  c = await ztwimCluster({
    leaderElection: false,
    // An operator looks for kinds that are not served every 30 s. Its webhooks still have a second of real time.
    wire: acceleratedClock(5),
    wrapClient: (client) => watches.through(client),
    modifyRbac: (manifests) => {
      granted = manifests;
      return manifests;
    },
  });
  const ingress = { className: 'public' };
  await start(c, {}, { server: { federation: {}, ingress }, oidc: { ingress } });
});
afterAll(() => c[Symbol.asyncDispose]());

const inOperands = (name: string) => ({ namespace: OPERANDS, name });

async function asOperator(): Promise<Client> {
  const { metadata } = granted.find(({ kind }) => kind === 'ServiceAccount') ?? {};
  return c.clientFor({ serviceAccount: { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' } });
}

describe('permissions', () => {
  const rulesOf = (kind: string): readonly PolicyRule[] =>
    granted.flatMap((manifest) => (manifest.kind === kind && 'rules' in manifest ? (manifest.rules ?? []) : []));

  it('scenario 48 are named one by one, and only those about cluster-scoped objects apply everywhere', () => {
    for (const { apiGroups = [], resources = [], verbs } of [...rulesOf('ClusterRole'), ...rulesOf('Role')]) {
      const all = [...apiGroups, ...resources, ...verbs];
      expect(all.filter((each) => /^(?:.*\*.*|escalate|bind|impersonate)$/.test(each))).toEqual([]);
    }
    const everywhere = rulesOf('ClusterRole').flatMap(({ resources = [] }) => resources);
    for (const resource of ['secrets', 'configmaps', 'statefulsets', 'daemonsets', 'deployments', 'roles', 'leases']) {
      expect(everywhere).not.toContain(resource);
    }
    const namespaces = granted.flatMap(({ kind, metadata }) => (kind === 'Role' ? [metadata?.namespace] : []));
    // Events about cluster-scoped objects are in the namespace default.
    expect([OPERANDS, c.managerNamespace, 'default']).toEqual(expect.arrayContaining(namespaces));
    const ofOperands = rulesOf('ClusterRole').filter(({ resources = [] }) => resources.includes('spireservers'));
    expect(ofOperands.flatMap(({ verbs }) => verbs)).not.toContain('create');
    expect(everywhere).toContain('nodes/pods');
    expect(everywhere).not.toContain('nodes/proxy');
  });

  it('scenario 48 are enough where owner references need permissions too', async () => {
    const { client } = await c.serviceAccount({
      clusterRules: [
        { apiGroups: ['operator.openshift.io'], resources: ['spireagents'], verbs: ['get', 'patch', 'delete'] },
      ],
    });
    const agent = await client.get(SpireAgent, KEY);
    const [owner] = agent.metadata?.ownerReferences ?? [];
    expect(owner?.blockOwnerDeletion).toBe(true);
    const ownerReferences = [{ ...owner, controller: false, blockOwnerDeletion: false }];
    const body = { metadata: { ownerReferences } };
    await client.patch(SpireAgent, KEY, { type: 'merge', body });
    // The operator repairs it, which an account without its permission on finalizers may not.
    const repaired = await c.until(SpireAgent, KEY, ({ metadata }) =>
      Boolean(metadata?.ownerReferences?.[0]?.blockOwnerDeletion),
    );
    await c.stop();
    const again = { metadata: { ownerReferences: repaired.metadata?.ownerReferences } };
    await client.patch(SpireAgent, KEY, { type: 'merge', body });
    expect((await refusalOf(client.patch(SpireAgent, KEY, { type: 'merge', body: again }))).message).toContain(
      'cannot set blockOwnerDeletion',
    );
    await c.restart();
    await c.until(SpireAgent, KEY, ({ metadata }) => Boolean(metadata?.ownerReferences?.[0]?.blockOwnerDeletion));
    expect(await refusedRequests()).toEqual([]);
  });

  it('scenario 48 let the operator grant nothing that it does not have', async () => {
    const operator = await asOperator();
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    const body = { rules };
    const role = await refusalOf(operator.patch(ClusterRole, { name: 'spire-server' }, { type: 'merge', body }));
    expect([role.status, role.message]).toEqual([403, expect.stringContaining('not currently held')]);
    // It has permissions for the names of its own objects only.
    const metadata = { name: c.uniqueName('escalated') };
    const other = await refusalOf(operator.create(ClusterRole, { metadata, rules: [] }));
    expect([other.status, other.message]).toEqual([403, expect.stringContaining('cannot create resource')]);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const binding = await refusalOf(operator.create(ClusterRoleBinding, { metadata, roleRef, subjects: [] }));
    expect(binding.status).toBe(403);
  });
});

/** refusedRequests returns what the API server did not allow the operator since its start. */
async function refusedRequests(): Promise<readonly string[]> {
  return (await c.controlPlane.audit(startedAt))
    .filter(({ user }) => user.username?.startsWith(`system:serviceaccount:${c.managerNamespace}:`))
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

/** The objects of the operands, as the API server stored them. */
async function storedObjects(): Promise<readonly Child[]> {
  const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
  const found = await Promise.all(
    [...CHILD_KINDS, Ingress as Resource<KubernetesObject>].map(async (resource) => {
      const namespace = resource.scope === 'Namespaced' ? OPERANDS : undefined;
      const { items } = await c.admin.list(resource, { namespace, labelSelector });
      return items.map((object) => ({ resource, object, condition: '' }));
    }),
  );
  return found.flat();
}

describe('the objects of the operands', () => {
  it('scenario 52 name only objects, ports, keys and paths that exist', async () => {
    const objects = await storedObjects();
    expect(objects.length).toBeGreaterThan(30);
    expect(findBrokenReferences(objects, { configMaps: [] })).toEqual([]);
    const broken = objects.filter(({ resource }) => resource.kind !== 'ConfigMap');
    expect(findBrokenReferences(broken, { configMaps: [] })).not.toEqual([]);
  });
});

async function untilClusterName(name: string): Promise<void> {
  const hasName = ({ data = {} }: ConfigMap): boolean => Object.values(data).some((text) => text.includes(`"${name}"`));
  for (const file of [SERVER, AGENT]) await c.until(ConfigMap, inOperands(file), hasName);
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await c.idle();
}

/** The workloads of server, agents and provider. Each new template increases the generation of its own by one. */
const WORKLOADS: readonly (readonly [Resource<KubernetesObject>, string])[] = [
  [StatefulSet, SERVER],
  [DaemonSet, AGENT],
  [Deployment, OIDC_PROVIDER],
];

async function generations(): Promise<readonly number[]> {
  const workloads = await Promise.all(WORKLOADS.map(([kind, name]) => c.admin.get(kind, inOperands(name))));
  return workloads.map(({ metadata }) => metadata?.generation ?? 0);
}

/**
 * untilGenerations waits for templates, and that no more of them come. A run writes them after the configuration, and may
 * have failed in between: then it is repeated after some of the operator's time.
 */
async function untilGenerations(expected: readonly number[]): Promise<void> {
  for (const [index, [kind, name]] of WORKLOADS.entries()) {
    await c.until(kind, inOperands(name), ({ metadata }) => (metadata?.generation ?? 0) >= (expected[index] ?? 0));
  }
  await c.idle();
  expect(await generations()).toEqual(expected);
}

describe('an API server', () => {
  const rename = async (clusterName: string): Promise<void> => {
    // Workloads are changed at most twice a second.
    await c.clock.advance(500);
    await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { clusterName } } });
  };

  it('scenario 49 may deliver events twice', async () => {
    const [server = 0, agent = 0, oidc = 0] = await generations();
    watches.isRepeating = true;
    await rename('repeated');
    await untilClusterName('repeated');
    await untilGenerations([server + 1, agent + 1, oidc]);
  });

  it('scenario 49 may be restarted and forget what the operator has seen', async () => {
    const controlPlane = c.controlPlane as ControlPlane;
    const [server = 0, agent = 0, oidc = 0] = await generations();
    await rename('restarted');
    await controlPlane.faults.compact();
    await controlPlane.restart('kube-apiserver');
    await untilClusterName('restarted');
    await untilGenerations([server + 1, agent + 1, oidc]);
    await expect.poll(() => watches.expired, { timeout: 60_000 }).toBeGreaterThan(0);
    await rename('afterwards');
    await untilClusterName('afterwards');
    await untilGenerations([server + 2, agent + 2, oidc]);
    watches.isRepeating = false;
  });
});

const OPENSHIFT = [Route, SecurityContextConstraints] as const;

/** definitionOf returns the definition of a kind of OpenShift, whose objects may have any fields. */
function definitionOf({ group, version, kind, plural, scope }: Resource): CustomResourceDefinition {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

async function removeDefinitions(names: readonly string[]): Promise<void> {
  for (const name of names) await c.admin.delete(CustomResourceDefinition, { name });
  for (const name of names) await c.untilGone(CustomResourceDefinition, { name });
}

describe('a kind that the cluster does not serve', () => {
  it('scenario 47 is reported, does not keep the operator from starting, and is used once it is served', async () => {
    await c.stop();
    await removeDefinitions(ztwim.dependencies.map(({ crd }) => crd.metadata?.name ?? ''));
    await c.restart();
    for (const kind of [SpireServer, SpireOIDCDiscoveryProvider]) {
      const message = await c.untilReason(kind, 'ClusterSPIFFEIDAvailable', 'NotServed');
      expect(message).toContain('does not serve ClusterSPIFFEID of spire.spiffe.io');
      await c.untilReason(kind, 'Ready', 'NotServed');
    }
    await c.untilReason(SpireAgent, 'Ready', 'Ready');
    expect(await workloadsLeft(c)).toHaveLength(4);

    await installDependencies(c.admin, ztwim);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    expect((await c.admin.list(ClusterSPIFFEID)).items).toHaveLength(2);
  });

  it('scenario 47 is replaced by an Ingress, until Routes are served', async () => {
    const hosts = (await c.admin.list(Ingress, { namespace: OPERANDS })).items.map(
      ({ spec }) => spec?.rules?.[0]?.host,
    );
    expect(hosts.sort()).toEqual(['federation.example.io', 'oidc.example.io']);
    await c.untilReason(SpireServer, 'IngressAvailable', 'Ready');

    await c.admin.create(CustomResourceDefinition, definitionOf(Route));
    for (const kind of [SpireServer, SpireOIDCDiscoveryProvider]) {
      await c.untilReason(kind, 'RouteAvailable', 'Ready');
      const { status } = await c.admin.get(kind as typeof SpireServer, KEY);
      expect(status?.conditions?.map(({ type }) => type)).not.toContain('IngressAvailable');
    }
    const { items } = await c.admin.list(Route, { namespace: OPERANDS });
    expect(items.map(({ spec }) => spec.host).sort()).toEqual(['federation.example.io', 'oidc.example.io']);
  });

  it('scenario 47 is reported by the operands that need it on OpenShift, and used once it is served', async () => {
    for (const kind of [SpireAgent, SpiffeCSIDriver]) {
      expect(await c.untilReason(kind, 'RBACAvailable', 'NotServed')).toContain('SecurityContextConstraints');
    }
    await c.admin.create(CustomResourceDefinition, definitionOf(SecurityContextConstraints));
    for (const kind of [SpireAgent, SpiffeCSIDriver]) await c.untilReason(kind, 'RBACAvailable', 'Ready');
    expect((await c.admin.list(SecurityContextConstraints)).items).toHaveLength(2);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    // The next test gets a control plane without them.
    await c.stop();
    await removeDefinitions(OPENSHIFT.map(({ plural, group }) => `${plural}.${group}`));
  });
});
