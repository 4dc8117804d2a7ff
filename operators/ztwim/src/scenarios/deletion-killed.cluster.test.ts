import { ConfigMap } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGER } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { KilledProcess } from '../testing/killed-process.test-support.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deletedWorkloads, FIVE, IN_ORDER, KEY, start, workloadsLeft } from './deletion.test-support.ts';

const process = new KilledProcess();

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false, wrapClient: (client) => process.through(client) });
});
afterAll(() => c[Symbol.asyncDispose]());

async function areGone(): Promise<boolean> {
  const found = await Promise.all(FIVE.map((kind) => c.admin.find(kind, KEY)));
  return found.every((object) => object === undefined);
}

describe('a deletion', () => {
  it('scenario 36 continues after the operator was killed, whenever that happens', async () => {
    await start(c);
    const since = Date.now();
    process.limit(1);
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    let lives = 1;
    for (;;) {
      await expect
        .poll(async () => process.isKilled || (await areGone()), { timeout: 60_000, interval: 20 })
        .toBe(true);
      if (await areGone()) break;
      await c.stop();
      // Different numbers, so that it is killed between different steps.
      process.limit(3 + (lives % 5));
      lives += 1;
      await c.restart();
    }
    process.limit();
    expect(lives).toBeGreaterThan(5);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
    const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
    expect((await c.admin.list(ConfigMap, { namespace: OPERANDS, labelSelector })).items).toEqual([]);
  });
});
