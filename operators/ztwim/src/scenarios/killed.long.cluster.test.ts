import {
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  type Resource,
  StatefulSet,
} from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATIONS, MANAGER } from '../api/names.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { AGENT, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { KilledProcess } from '../testing/killed-process.test-support.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deletedWorkloads, FIVE, IN_ORDER, KEY, start, workloadsLeft } from './deletion.test-support.ts';

const operator = new KilledProcess();
let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false, wrapClient: (client) => operator.through(client) });
  await start(c);
});
afterAll(() => c[Symbol.asyncDispose]());

/** surviveUntil lets the operator send a few writes and kills it, again and again, until a state is reached. */
async function surviveUntil(isReached: () => Promise<boolean>, writes: (life: number) => number): Promise<number> {
  for (let lives = 1; ; lives += 1) {
    await expect
      .poll(
        async () => {
          await c.clock.advance(250);
          return operator.isKilled || (await isReached());
        },
        { timeout: 60_000, interval: 20 },
      )
      .toBe(true);
    if (!operator.isKilled) {
      operator.limit();
      return lives;
    }
    await c.stop();
    operator.limit(writes(lives));
    await c.restart();
  }
}

const CHANGED = [
  [StatefulSet, SERVER],
  [DaemonSet, AGENT],
  [Deployment, OIDC_PROVIDER],
] as const;

/** What a change of the identity leads to: the history, the files, and the hashes of the templates. */
async function outcome(): Promise<unknown> {
  const { metadata } = await c.admin.get(SpireServer, KEY);
  const history = JSON.parse(metadata?.annotations?.[ANNOTATIONS.history] ?? '{}') as {
    readonly trustDomain: object;
  };
  const files = (await c.admin.list(ConfigMap, { namespace: OPERANDS })).items
    .filter((each) => each.metadata?.labels?.['app.kubernetes.io/managed-by'] === MANAGER)
    .map((each) => [each.metadata?.name, each.data]);
  const templates = await Promise.all(
    CHANGED.map(async ([kind, name]) => {
      const found = await c.admin.get(kind as typeof StatefulSet, { namespace: OPERANDS, name });
      return found.spec?.template.metadata?.annotations;
    }),
  );
  return { history: { ...history, trustDomain: { ...history.trustDomain, changedAt: '' } }, files, templates };
}

/** Whether all operands are ready with a trust domain. */
async function hasIdentity(trustDomain: string): Promise<boolean> {
  const { status } = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
  if (status?.effectiveConfig?.trustDomain !== trustDomain) return false;
  const { data } = await c.admin.get(ConfigMap, { namespace: OPERANDS, name: OIDC_PROVIDER });
  if (!JSON.stringify(data).includes(`\\"${trustDomain}\\"`)) return false;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True';
}

const identity = (trustDomain: string, clusterName: string) => ({ trustDomain, clusterName });
const FIRST = identity(COMPLETE.trustDomain, COMPLETE.clusterName);
const SECOND = identity('other.io', 'staging');

async function change(spec: object): Promise<void> {
  await c.clock.advance(500);
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec } });
}

async function untilChanged(spec: typeof FIRST): Promise<void> {
  await surviveUntil(
    () => hasIdentity(spec.trustDomain),
    () => Number.POSITIVE_INFINITY,
  );
  await c.idle();
}

describe('an operator that is killed', () => {
  it('scenario 21 between the history, the files and the workloads of a change leaves the same result', async () => {
    await change(SECOND);
    await untilChanged(SECOND);
    const expected = await outcome();
    await change(FIRST);
    await untilChanged(FIRST);

    operator.limit(1);
    await change(SECOND);
    // A few writes at a time, so that it is killed between different steps.
    const lives = await surviveUntil(
      () => hasIdentity(SECOND.trustDomain),
      (life) => 1 + (life % 3),
    );
    await c.idle();
    expect(lives).toBeGreaterThan(5);
    expect(await outcome()).toEqual(expected);
  });

  it('scenario 36 in any step of a deletion continues it', async () => {
    const since = Date.now();
    operator.limit(1);
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
    // Different numbers, so that it is killed between different steps.
    const lives = await surviveUntil(areGone, (life) => 3 + (life % 5));
    expect(lives).toBeGreaterThan(5);
    expect(await deletedWorkloads(c, since)).toEqual(IN_ORDER);
    await expect.poll(() => workloadsLeft(c)).toEqual([]);
    const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;
    expect((await c.admin.list(ConfigMap, { namespace: OPERANDS, labelSelector })).items).toEqual([]);
  });
});

async function areGone(): Promise<boolean> {
  const found = await Promise.all(FIVE.map((kind) => c.admin.find(kind as Resource<KubernetesObject>, KEY)));
  return found.every((object) => object === undefined);
}
