import { ClusterRole, type OwnerReference } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { COMPLETE, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { FIVE, KEY, start, untilEvent, workloadsLeft } from './deletion.test-support.ts';

const OPERAND_KINDS = FIVE.slice(0, -1);

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster();
  await start(c);
});
afterAll(() => c[Symbol.asyncDispose]());

async function setOwners(kind: (typeof FIVE)[number], ownerReferences: readonly OwnerReference[]): Promise<void> {
  await c.admin.patch(kind, KEY, { type: 'merge', body: { metadata: { ownerReferences } } });
}

async function expectedReference(): Promise<OwnerReference> {
  const { metadata } = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
  const { apiVersion, kind } = {
    apiVersion: 'operator.openshift.io/v1alpha1',
    kind: 'ZeroTrustWorkloadIdentityManager',
  };
  return { apiVersion, kind, name: 'cluster', uid: metadata?.uid ?? '', controller: true, blockOwnerDeletion: true };
}

describe('the owner of an operand', () => {
  it('scenario 22 is the central object, as its only controller', async () => {
    const reference = await expectedReference();
    for (const kind of OPERAND_KINDS) {
      expect((await c.admin.get(kind, KEY)).metadata?.ownerReferences).toEqual([reference]);
    }
  });

  it('scenario 22 is repaired if its reference is removed or incomplete', async () => {
    const reference = await expectedReference();
    const { controller, blockOwnerDeletion, ...incomplete } = reference;
    expect([controller, blockOwnerDeletion]).toEqual([true, true]);
    await setOwners(SpireServer, []);
    await setOwners(SpireAgent, [incomplete]);
    for (const kind of [SpireServer, SpireAgent] as const) {
      await c.until(
        kind as typeof SpireServer,
        KEY,
        ({ metadata }) =>
          metadata?.ownerReferences?.some((each) => each.controller && each.blockOwnerDeletion) ?? false,
      );
      expect((await c.admin.get(kind as typeof SpireServer, KEY)).metadata?.ownerReferences).toEqual([reference]);
    }
  });

  it('scenario 22 is not replaced if it is another controller, which is reported', async () => {
    const { metadata } = await c.admin.create(ClusterRole, { metadata: { name: c.uniqueName('owner') } });
    const foreign = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      controller: true,
    };
    await setOwners(SpireOIDCDiscoveryProvider, [foreign]);
    expect(await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'OwnerConflict')).toContain(foreign.name);
    await c.idle();
    expect((await c.admin.get(SpireOIDCDiscoveryProvider, KEY)).metadata?.ownerReferences).toEqual([foreign]);
    await setOwners(SpireOIDCDiscoveryProvider, []);
    await c.until(SpireOIDCDiscoveryProvider, KEY, (each) => each.metadata?.ownerReferences?.length === 1);
    await c.admin.delete(ClusterRole, { name: foreign.name });
  });

  it('scenario 23 may be recreated: the operands survive and belong to the new one', async () => {
    const before = await Promise.all(OPERAND_KINDS.map((kind) => c.admin.get(kind, KEY)));
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Orphan' });
    await c.untilRemoved(ZeroTrustWorkloadIdentityManager);
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    const reference = await expectedReference();
    for (const [index, kind] of OPERAND_KINDS.entries()) {
      const { metadata } = await c.until(kind, KEY, (each) => each.metadata?.ownerReferences?.length === 1);
      expect(metadata?.ownerReferences).toEqual([reference]);
      expect(metadata?.uid).toBe(before[index]?.metadata?.uid);
    }
    expect(await workloadsLeft(c)).toHaveLength(4);
  });

  it('scenario 23 may be orphaned while no operator is running: the operands survive', async () => {
    await c.idle();
    await c.stop();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Orphan' });
    for (const kind of OPERAND_KINDS) await c.until(kind, KEY, ({ metadata }) => !metadata?.ownerReferences?.length);
    await c.until(ZeroTrustWorkloadIdentityManager, KEY, ({ metadata }) => !metadata?.finalizers?.includes('orphan'));
    await c.restart();
    await c.untilRemoved(ZeroTrustWorkloadIdentityManager);
    await c.untilReason(SpireServer, 'Ready', 'ParentMissing');
    for (const kind of OPERAND_KINDS) {
      expect((await c.admin.get(kind, KEY)).metadata?.deletionTimestamp).toBeUndefined();
    }
    expect(await workloadsLeft(c)).toHaveLength(4);
  });
});
