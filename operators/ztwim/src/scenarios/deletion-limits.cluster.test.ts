import {
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  Pod,
  type Resource,
  StatefulSet,
} from '@bowline/kubernetes';
import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINALIZERS } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { CSI_DRIVER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
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

const FOREIGN = 'example.io/kept';

const metrics = createMetrics({ process: false });
let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false, metrics });
  await start(c);
});
afterAll(() => c[Symbol.asyncDispose]());

/**
 * Each test has a longer limit than the one before: its deletions begin in real time, and the operator's time is ahead of
 * it by the last limit.
 */
let limit = 0;
async function nextLimit(): Promise<number> {
  limit += 30;
  const body = { spec: { deletion: { timeoutSeconds: limit } } };
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
  return limit;
}

async function setFinalizers(kind: Resource<KubernetesObject>, finalizers: readonly string[]): Promise<void> {
  await c.admin.patch(kind, KEY, { type: 'merge', body: { metadata: { finalizers } } });
}

async function pause(kind: Resource<KubernetesObject>, isPaused: boolean): Promise<void> {
  const body = { metadata: { annotations: { 'bowline.dev/paused': isPaused ? 'true' : null } } };
  await c.admin.patch(kind, KEY, { type: 'merge', body });
  await c.idle();
}

/** count returns the value of a counter of a finalizer. */
async function count(name: 'finalizer_timeouts' | 'finalizers_forced', finalizer: string): Promise<number> {
  const start = `ztwim_${name}_total{finalizer="${finalizer}"} `;
  const line = (await metrics.render()).split('\n').find((each) => each.startsWith(start));
  return Number(line?.slice(start.length));
}

/** recreate creates operands again that a test deleted. */
async function recreate(...kinds: readonly Resource<KubernetesObject>[]): Promise<void> {
  for (const kind of kinds) await c.createOne(kind);
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await c.idle();
}

describe('the time limit of the deletion of an operand', () => {
  it('scenario 33 ends the wait for a pod that does not end', async () => {
    const timeoutSeconds = await nextLimit();
    await using hanging = await c.nodeAgent.pods.hangDeletion({ namespace: OPERANDS });
    await c.admin.delete(SpireOIDCDiscoveryProvider, KEY);
    const message = await c.untilReason(SpireOIDCDiscoveryProvider, 'Deleting', 'WaitingForWorkload');
    expect(message).toBe(`Deployment ${OIDC_PROVIDER} must be gone first`);
    expect(await count('finalizer_timeouts', FINALIZERS.oidc)).toBe(0);
    await advancePast(c, timeoutSeconds);
    await c.untilGone(SpireOIDCDiscoveryProvider, KEY);
    expect(await untilEvent(c, 'SpireOIDCDiscoveryProvider', 'CleanupTimeout')).toContain(
      `Deployment ${OIDC_PROVIDER}`,
    );
    expect(await count('finalizer_timeouts', FINALIZERS.oidc)).toBe(1);
    const { metadata } = await c.admin.get(Deployment, { namespace: OPERANDS, name: OIDC_PROVIDER });
    expect(metadata?.deletionTimestamp).toBeDefined();
    await hanging.release();
    await c.untilGone(Deployment, { namespace: OPERANDS, name: OIDC_PROVIDER });
  });

  it('scenario 34 lets CSI wait for pods that mount its driver', async () => {
    const timeoutSeconds = await nextLimit();
    const key = { namespace: c.namespace, name: 'workload' };
    const volumes = [{ name: 'spiffe', csi: { driver: 'csi.spiffe.io', readOnly: true } }];
    const pod = { metadata: key, spec: { containers: [{ name: 'a', image: 'a' }], volumes } };
    await c.admin.create(Pod, pod);
    await c.admin.delete(SpiffeCSIDriver, KEY);
    const message = await c.untilReason(SpiffeCSIDriver, 'Deleting', 'WorkloadsStillMounted');
    expect(message).toContain(`${c.namespace}/workload`);
    await untilEvent(c, 'SpiffeCSIDriver', 'WorkloadsStillMounted');
    expect(await c.admin.find(DaemonSet, { namespace: OPERANDS, name: CSI_DRIVER })).toBeDefined();
    await c.admin.delete(Pod, key);
    await c.untilGone(Pod, key);
    await c.advanceTime(2_000);
    await c.untilRemoved(SpiffeCSIDriver);
    expect(await count('finalizer_timeouts', FINALIZERS.csi)).toBe(0);

    await c.admin.create(Pod, pod);
    await c.createOne(SpiffeCSIDriver);
    await c.untilReason(SpiffeCSIDriver, 'Ready', 'Ready');
    await c.admin.delete(SpiffeCSIDriver, KEY);
    await c.untilReason(SpiffeCSIDriver, 'Deleting', 'WorkloadsStillMounted');
    await advancePast(c, timeoutSeconds);
    await c.untilRemoved(SpiffeCSIDriver);
    expect(await count('finalizer_timeouts', FINALIZERS.csi)).toBe(1);
    await c.admin.delete(Pod, key);
  });

  it('scenario 37 ends the wait for a garbage collection that does not end', async () => {
    const timeoutSeconds = await nextLimit();
    const { metadata } = await c.admin.get(StatefulSet, { namespace: OPERANDS, name: SERVER });
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: SERVER,
      uid: metadata?.uid ?? '',
      blockOwnerDeletion: true,
    };
    const key = { namespace: OPERANDS, name: 'dependent' };
    await c.admin.create(ConfigMap, { metadata: { ...key, ownerReferences: [owner], finalizers: [FOREIGN] } });
    await c.admin.delete(SpireServer, KEY);
    await c.untilReason(SpireServer, 'Deleting', 'WaitingForWorkload');
    await advancePast(c, timeoutSeconds);
    await c.untilRemoved(SpireServer);
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(StatefulSet, { namespace: OPERANDS, name: SERVER });
    await recreate(SpireServer, SpiffeCSIDriver, SpireOIDCDiscoveryProvider);
  });
});

describe('the finalizer of an operand', () => {
  it('scenario 33 may be removed by hand: its workload is deleted by the central object', async () => {
    await c.stop();
    await c.admin.delete(SpireOIDCDiscoveryProvider, KEY);
    await setFinalizers(SpireOIDCDiscoveryProvider, []);
    await c.untilGone(SpireOIDCDiscoveryProvider, KEY);
    await c.restart();
    await c.untilGone(Deployment, { namespace: OPERANDS, name: OIDC_PROVIDER });
    await recreate(SpireOIDCDiscoveryProvider);
  });
});

describe('the time limit of the deletion of the central object', () => {
  it('scenario 32 does not apply to a foreign finalizer, which blocks no other operand and is reported', async () => {
    const timeoutSeconds = await nextLimit();
    await setFinalizers(SpireOIDCDiscoveryProvider, [FINALIZERS.oidc, FOREIGN]);
    const since = Date.now();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    for (const kind of FIVE.slice(1, 4)) await c.untilGone(kind, KEY);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await advancePast(c, timeoutSeconds + 5);
    expect(await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'CleanupTimedOut')).toContain(
      `SpireOIDCDiscoveryProvider (finalizers: ${FOREIGN})`,
    );
    expect((await c.admin.get(SpireOIDCDiscoveryProvider, KEY)).metadata?.finalizers).toEqual([FOREIGN]);
    await setFinalizers(SpireOIDCDiscoveryProvider, []);
    await untilNone(c);
  });

  it('scenario 33 removes the finalizer of an operand that is paused, and deletes its workload', async () => {
    await start(c);
    const timeoutSeconds = await nextLimit();
    await pause(SpireOIDCDiscoveryProvider, true);
    const since = Date.now();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'WaitingForOperands');
    await advancePast(c, timeoutSeconds);
    expect(await c.admin.find(SpireOIDCDiscoveryProvider, KEY)).toBeDefined();
    expect(await count('finalizers_forced', FINALIZERS.oidc)).toBe(0);
    await advancePast(c, timeoutSeconds + 5);
    await untilNone(c);
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'FinalizerForceRemoved', FINALIZERS.oidc);
    expect(await count('finalizers_forced', FINALIZERS.oidc)).toBe(1);
    expect((await deletedWorkloads(c, since)).slice(0, 1)).toEqual(IN_ORDER.slice(0, 1));
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
  });

  it('scenario 33 does not exist without forceFinalizerRemoval', async () => {
    await c.createOne(ZeroTrustWorkloadIdentityManager, { ...COMPLETE, deletion: { forceFinalizerRemoval: false } });
    await c.createOne(SpireOIDCDiscoveryProvider);
    await c.untilReason(SpireOIDCDiscoveryProvider, 'Ready', 'Ready');
    const timeoutSeconds = await nextLimit();
    await pause(SpireOIDCDiscoveryProvider, true);
    await using hanging = await c.nodeAgent.pods.hangDeletion({ namespace: OPERANDS });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'WaitingForOperands');
    await advancePast(c, timeoutSeconds + 5);
    expect(await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'CleanupTimedOut')).toContain(
      `SpireOIDCDiscoveryProvider (finalizers: ${FINALIZERS.oidc})`,
    );
    await pause(SpireOIDCDiscoveryProvider, false);
    const message = await c.untilReason(SpireOIDCDiscoveryProvider, 'Deleting', 'CleanupTimedOut');
    expect(message).toContain(OIDC_PROVIDER);
    expect(await count('finalizers_forced', FINALIZERS.oidc)).toBe(1);
    await hanging.release();
    await untilNone(c);
  });
});
