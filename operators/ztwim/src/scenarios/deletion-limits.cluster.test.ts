import {
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  Pod,
  type Resource,
  StatefulSet,
} from '@bowline/kubernetes';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FINALIZERS } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { CSI_DRIVER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
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

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false });
});
afterAll(() => c[Symbol.asyncDispose]());

/**
 * Each test has twice the limit of the one before: its deletions begin in real time, and the time of the operator is ahead
 * of it by the limits that have passed.
 */
let limit = 5;
const nextLimit = (): number => {
  limit *= 2;
  return limit;
};

/** removeFinalizers removes what a test added. */
async function setFinalizers(kind: Resource<KubernetesObject>, finalizers: readonly string[]): Promise<void> {
  await c.admin.patch(kind, KEY, { type: 'merge', body: { metadata: { finalizers } } });
}

afterEach(async () => {
  for (const kind of FIVE) expect(await c.admin.find(kind, KEY)).toBeUndefined();
});

describe('the time limit of a deletion', () => {
  it('scenario 32 does not apply to a foreign finalizer, which blocks no other operand and is reported', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds });
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

  it('scenario 33 ends the wait for a pod that does not end', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds });
    await using hanging = await c.nodeAgent.pods.hangDeletion({ namespace: OPERANDS });
    await c.admin.delete(SpireOIDCDiscoveryProvider, KEY);
    const message = await c.untilReason(SpireOIDCDiscoveryProvider, 'Deleting', 'WaitingForWorkload');
    expect(message).toBe(`Deployment ${OIDC_PROVIDER} must be gone first`);
    await advancePast(c, timeoutSeconds);
    await c.untilGone(SpireOIDCDiscoveryProvider, KEY);
    expect(await untilEvent(c, 'SpireOIDCDiscoveryProvider', 'CleanupTimeout')).toContain(
      `Deployment ${OIDC_PROVIDER}`,
    );
    const { metadata } = await c.admin.get(Deployment, { namespace: OPERANDS, name: OIDC_PROVIDER });
    expect(metadata?.deletionTimestamp).toBeDefined();
    await hanging.release();
    await c.untilGone(Deployment, { namespace: OPERANDS, name: OIDC_PROVIDER });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await untilNone(c);
  });

  it('scenario 33 removes the finalizer of an operand that is paused, and deletes its workload', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds });
    const body = { metadata: { annotations: { 'bowline.dev/paused': 'true' } } };
    await c.admin.patch(SpireOIDCDiscoveryProvider, KEY, { type: 'merge', body });
    await c.idle();
    const since = Date.now();
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'WaitingForOperands');
    await advancePast(c, timeoutSeconds);
    expect(await c.admin.find(SpireOIDCDiscoveryProvider, KEY)).toBeDefined();
    await advancePast(c, timeoutSeconds + 5);
    await untilNone(c);
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'FinalizerForceRemoved', FINALIZERS.oidc);
    expect((await deletedWorkloads(c, since)).slice(0, 1)).toEqual(IN_ORDER.slice(0, 1));
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
  });

  it('scenario 33 does not exist without forceFinalizerRemoval', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds, forceFinalizerRemoval: false });
    await using hanging = await c.nodeAgent.pods.hangDeletion({ namespace: OPERANDS });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(SpireOIDCDiscoveryProvider, 'Deleting', 'WaitingForWorkload');
    await advancePast(c, timeoutSeconds + 5);
    const message = await c.untilReason(SpireOIDCDiscoveryProvider, 'Deleting', 'CleanupTimedOut');
    expect(message).toContain(OIDC_PROVIDER);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Deleting', 'CleanupTimedOut');
    await hanging.release();
    await untilNone(c);
  });

  it('scenario 34 lets CSI wait for pods that mount its driver', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds });
    const key = { namespace: c.namespace, name: 'workload' };
    const volumes = [{ name: 'spiffe', csi: { driver: 'csi.spiffe.io', readOnly: true } }];
    const pod = { metadata: key, spec: { containers: [{ name: 'a', image: 'a' }], volumes } };
    await c.admin.create(Pod, pod);
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    const message = await c.untilReason(SpiffeCSIDriver, 'Deleting', 'WorkloadsStillMounted');
    expect(message).toContain(`${c.namespace}/workload`);
    await untilEvent(c, 'SpiffeCSIDriver', 'WorkloadsStillMounted');
    expect(await c.admin.find(DaemonSet, { namespace: OPERANDS, name: CSI_DRIVER })).toBeDefined();
    await c.admin.delete(Pod, key);
    await c.untilGone(Pod, key);
    await c.advanceTime(2_000);
    await untilNone(c);

    await c.admin.create(Pod, pod);
    await start(c, { timeoutSeconds });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(SpiffeCSIDriver, 'Deleting', 'WorkloadsStillMounted');
    await advancePast(c, timeoutSeconds);
    await untilNone(c);
    await c.admin.delete(Pod, key);
  });

  it('scenario 37 ends the wait for a garbage collection that does not end', async () => {
    const timeoutSeconds = nextLimit();
    await start(c, { timeoutSeconds });
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
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await c.untilReason(SpireServer, 'Deleting', 'WaitingForWorkload');
    await advancePast(c, timeoutSeconds);
    await untilNone(c);
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
  });
});

describe('the finalizer of an operand', () => {
  it('scenario 33 may be removed by hand: its workload is deleted by the central object', async () => {
    await start(c);
    await c.stop();
    await c.admin.delete(SpireServer, KEY);
    await setFinalizers(SpireServer, []);
    await c.untilGone(SpireServer, KEY);
    await c.restart();
    await c.untilGone(StatefulSet, { namespace: OPERANDS, name: SERVER });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    await untilNone(c);
  });
});
