import { ConfigMap } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGER } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deletedWorkloads, FIVE, IN_ORDER, KEY, start, workloadsLeft } from './deletion.test-support.ts';

/** The number of writes that the operator may still send before it is killed. */
let writesLeft = Number.POSITIVE_INFINITY;
let isKilled = false;

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** A new process is started only when the webhooks of the last one are ready. */
const OF_WEBHOOKS = /^(?:Secret|Lease|.*WebhookConfiguration|.*Review)$/;

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({
    leaderElection: false,
    wrapClient: (client) =>
      client.checked(({ verb, resource }) => {
        if (resource === undefined || OF_WEBHOOKS.test(resource.kind)) return;
        if (!READS.has(verb) && resource.kind !== 'Event' && writesLeft-- <= 0) isKilled = true;
        if (isKilled) throw new Error('the process was killed');
      }),
  });
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
    writesLeft = 1;
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    let lives = 1;
    for (;;) {
      await expect.poll(async () => isKilled || (await areGone()), { timeout: 60_000, interval: 20 }).toBe(true);
      if (await areGone()) break;
      await c.stop();
      isKilled = false;
      // Different numbers, so that it is killed between different steps.
      writesLeft = 3 + (lives % 5);
      lives += 1;
      await c.restart();
    }
    isKilled = false;
    writesLeft = Number.POSITIVE_INFINITY;
    expect(lives).toBeGreaterThan(5);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
    const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
    expect((await c.admin.list(ConfigMap, { namespace: OPERANDS, labelSelector })).items).toEqual([]);
  });
});
