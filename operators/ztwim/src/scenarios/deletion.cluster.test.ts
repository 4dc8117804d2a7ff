import {
  ConfigMap,
  type KubernetesObject,
  PersistentVolumeClaim,
  type Resource,
  Secret,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINALIZERS, MANAGER } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { DEFAULT_IDENTITIES } from '../server/server-objects.ts';
import { AGENT, CSI_DRIVER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { CHILD_KINDS } from './child-kinds.test-support.ts';
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

const FOREIGN = 'example.io/kept';

const LEFT: readonly Resource<KubernetesObject>[] = [StatefulSet, ConfigMap, ServiceAccount];

const OPERANDS_ONLY = FIVE.slice(0, -1);

async function objectsLeft(): Promise<readonly string[]> {
  const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
  const left = await Promise.all(
    [...CHILD_KINDS, Secret as Resource<KubernetesObject>].map(async (kind) => {
      const namespace = kind.scope === 'Namespaced' ? OPERANDS : undefined;
      const { items } = await c.admin.list(kind, { namespace, labelSelector });
      return items.map(({ metadata }) => `${kind.kind} ${metadata?.name}`);
    }),
  );
  return left.flat();
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
    for (const [index, account] of [OIDC_PROVIDER, CSI_DRIVER, AGENT, SERVER].entries()) {
      const created = writes.findIndex((write) => write.endsWith(`serviceaccounts ${OPERANDS}/${account}`));
      expect(created).toBeGreaterThan(writes.indexOf(`patch ${FIVE[index]?.plural} cluster`));
    }
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

  it('scenario 28 adds no finalizer to an object that is being deleted', async () => {
    const annotations = { 'bowline.dev/paused': 'true' };
    await c.admin.create(SpiffeCSIDriver, { metadata: { ...KEY, annotations, finalizers: [FOREIGN] }, spec: {} });
    await c.admin.delete(SpiffeCSIDriver, KEY);
    const since = Date.now();
    const resume = { metadata: { annotations: { 'bowline.dev/paused': null } } };
    await c.admin.patch(SpiffeCSIDriver, KEY, { type: 'merge', body: resume });
    await c.idle();
    expect((await c.admin.get(SpiffeCSIDriver, KEY)).metadata?.finalizers).toEqual([FOREIGN]);
    expect(await c.writes(since)).toEqual([]);
    await c.admin.patch(SpiffeCSIDriver, KEY, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(SpiffeCSIDriver, KEY);
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

  it('scenario 31 that orphans keeps the operands, which hold, and what runs', async () => {
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Orphan' });
    await c.untilRemoved(ZeroTrustWorkloadIdentityManager);
    await c.untilReason(SpireServer, 'Ready', 'ParentMissing');
    for (const kind of OPERANDS_ONLY) {
      const { metadata } = await c.admin.get(kind, KEY);
      expect([metadata?.ownerReferences ?? [], metadata?.deletionTimestamp]).toEqual([[], undefined]);
    }
    expect(await workloadsLeft(c)).toHaveLength(4);
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
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

  it('scenario 31 of an operand that orphans keeps its objects without our label', async () => {
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.createOne(SpireServer);
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
