import {
  ClusterRole,
  ConfigMap,
  type KubernetesObject,
  PersistentVolumeClaim,
  type Resource,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINALIZERS, MANAGER } from '../api/names.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { DEFAULT_IDENTITIES } from '../server/server-objects.ts';
import { SERVER } from '../spire/names.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import {
  advancePast,
  deletedWorkloads,
  FIVE,
  IN_ORDER,
  KEY,
  start,
  untilEvent,
  untilNone,
  workloadsLeft,
} from './deletion.test-support.ts';

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false });
});
afterAll(() => c[Symbol.asyncDispose]());

const LEFT: readonly Resource<KubernetesObject>[] = [StatefulSet, ConfigMap, ServiceAccount];

const OPERANDS_ONLY = FIVE.slice(0, -1);

/** The kinds of objects that operands create, with their namespace. */
const CHILDREN: readonly (readonly [Resource<KubernetesObject>, string | undefined])[] = [
  [ConfigMap, OPERANDS],
  [Service, OPERANDS],
  [ServiceAccount, OPERANDS],
  [ClusterRole, undefined],
  [ValidatingWebhookConfiguration, undefined],
  [ClusterSPIFFEID, undefined],
  [CSIDriver, undefined],
];

async function objectsLeft(): Promise<readonly string[]> {
  const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
  const left: string[] = [];
  for (const [kind, namespace] of CHILDREN) {
    const { items } = await c.admin.list(kind, { namespace, labelSelector });
    left.push(...items.map(({ metadata }) => `${kind.kind} ${metadata?.name}`));
  }
  return [...left, ...(await workloadsLeft(c))];
}

describe('a deletion', () => {
  it('scenario 28 finds the finalizers of all five objects, which were added before anything was written', async () => {
    const since = Date.now();
    await start(c);
    const writes = await c.writes(since);
    const names = ['oidc', 'csi', 'agent', 'server', 'config'] as const;
    for (const [index, kind] of FIVE.entries()) {
      const { metadata } = await c.admin.get(kind, KEY);
      expect(metadata?.finalizers).toEqual([FINALIZERS[names[index] ?? 'config']]);
      expect(writes.find((write) => write.includes(` ${kind.plural} `))).toBe(`patch ${kind.plural} cluster`);
    }
    const isOfServer = (write: string) => write === 'patch spireservers cluster';
    const created = writes.findIndex((write) => write.endsWith(`serviceaccounts ${OPERANDS}/${SERVER}`));
    expect(created).toBeGreaterThan(writes.findIndex(isOfServer));
  });

  it('scenario 29 deletes the operands and their workloads in order, and leaves only the data', async () => {
    await c.until(PersistentVolumeClaim, { namespace: OPERANDS, name: 'spire-data-spire-server-0' }, () => true);
    const since = Date.now();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await untilNone(c);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    const deleted = (await c.writes(since)).filter((write) => /^delete \w+ cluster$/.test(write));
    expect(deleted).toEqual(OPERANDS_ONLY.map(({ plural }) => `delete ${plural} cluster`));
    expect(await objectsLeft()).toEqual([]);
    expect(await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'CleanupCompleted')).toBe('operands left: 0');
    const { items } = await c.admin.list(PersistentVolumeClaim, { namespace: OPERANDS });
    expect(items).toHaveLength(1);
  });

  it('scenario 30 deletes workloads in order in the foreground', async () => {
    await start(c);
    const since = Date.now();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Foreground' });
    await untilNone(c);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(objectsLeft).toEqual([]);
  });

  it('scenario 30 deletes workloads in order if the operands are deleted at once, providers first', async () => {
    await start(c);
    const since = Date.now();
    for (const kind of OPERANDS_ONLY.toReversed()) {
      await c.admin.delete(kind, KEY);
      if (kind === SpireServer) await c.untilReason(SpireServer, 'Deleting', 'WaitingForConsumers');
    }
    await advancePast(c, 2);
    for (const kind of OPERANDS_ONLY) await c.untilRemoved(kind);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(objectsLeft).toEqual([]);
  });

  it('scenario 35 of an operand alone deletes its objects, and they are created again with it', async () => {
    for (const kind of OPERANDS_ONLY) await c.createOne(kind);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    const since = Date.now();
    await c.admin.delete(SpireOIDCDiscoveryProvider, KEY);
    await c.untilRemoved(SpireOIDCDiscoveryProvider);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER.slice(0, 1));
    const identities = (await c.admin.list(ClusterSPIFFEID)).items.map(({ metadata }) => metadata?.name);
    expect(identities).toEqual([DEFAULT_IDENTITIES]);

    await c.admin.delete(SpireServer, KEY);
    await advancePast(c, 2);
    await c.untilRemoved(SpireServer);
    expect(await c.admin.find(ConfigMap, { namespace: OPERANDS, name: 'spire-bundle' })).toBeUndefined();
    await c.createOne(SpireServer);
    await c.createOne(SpireOIDCDiscoveryProvider);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    expect(await workloadsLeft(c)).toHaveLength(4);
  });

  it('scenario 30 deletes workloads in order if all five objects are deleted at once, providers first', async () => {
    const since = Date.now();
    const pause = (paused: string | null) => ({ metadata: { annotations: { 'bowline.dev/paused': paused } } });
    const parent = ZeroTrustWorkloadIdentityManager;
    await c.admin.patch(parent, KEY, { type: 'merge', body: pause('true') });
    await c.admin.delete(parent, KEY);
    await c.admin.delete(SpireServer, KEY);
    await c.untilReason(SpireServer, 'Deleting', 'WaitingForConsumers');
    await advancePast(c, 4);
    expect(await deletedWorkloads(c, since)).toEqual([]);
    for (const kind of OPERANDS_ONLY.toReversed()) await c.admin.delete(kind, KEY);
    await c.admin.patch(parent, KEY, { type: 'merge', body: pause(null) });
    await untilNone(c);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(objectsLeft).toEqual([]);
  });

  it('scenario 31 that orphans keeps the operands, which hold, and what runs', async () => {
    await start(c);
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Orphan' });
    await c.untilRemoved(ZeroTrustWorkloadIdentityManager);
    await c.untilReason(SpireServer, 'Ready', 'ParentMissing');
    for (const kind of OPERANDS_ONLY) {
      const { metadata } = await c.admin.get(kind, KEY);
      expect([metadata?.ownerReferences ?? [], metadata?.deletionTimestamp]).toEqual([[], undefined]);
    }
    expect(await workloadsLeft(c)).toHaveLength(4);
  });

  it('scenario 31 of an operand that orphans keeps its objects without our label', async () => {
    await c.createOne(ZeroTrustWorkloadIdentityManager, { trustDomain: 'example.io', clusterName: 'prod' });
    await c.untilReason(SpireServer, 'Ready', 'Ready');
    const before = await c.admin.get(StatefulSet, { namespace: OPERANDS, name: SERVER });
    await c.admin.delete(SpireServer, KEY, { propagationPolicy: 'Orphan' });
    await c.untilRemoved(SpireServer);
    await c.idle();
    for (const kind of LEFT) {
      const { metadata } = await c.admin.get(kind, { namespace: OPERANDS, name: SERVER });
      expect(metadata?.labels?.['app.kubernetes.io/managed-by']).toBeUndefined();
      expect(metadata?.ownerReferences ?? []).toEqual([]);
    }
    const after = await c.admin.get(StatefulSet, { namespace: OPERANDS, name: SERVER });
    expect([after.metadata?.uid, after.metadata?.generation]).toEqual([
      before.metadata?.uid,
      before.metadata?.generation,
    ]);
  });
});
