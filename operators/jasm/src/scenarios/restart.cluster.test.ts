import { Lease, Secret } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atScale } from '../../../../test/support/at-scale.ts';
import { MANAGED_BY } from '../api/names.ts';
import { MockProvider } from '../providers/mock/mock-provider.ts';
import type { ExternalSecret, SecretProvider, SecretRef } from '../providers/provider.ts';
import { entry, type JasmCluster, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { startScenario } from './scenario.test-support.ts';

const PODS = atScale(1_000);
const SOURCES = atScale(100);
const NAMESPACES = 4;

/** Returns the calls made when every source is read once. */
const once = (operation: string): readonly string[] =>
  Array.from({ length: SOURCES }, (_, source) => `${operation} /source/${source}`).sort();

describe(`${PODS} pods and ${SOURCES} sources`, () => {
  let c: JasmCluster;
  let namespaces: readonly string[];
  beforeAll(async () => {
    c = await jasmCluster();
    // All of them exist when the operator starts.
    await c.stop();
    const more = Array.from({ length: NAMESPACES - 1 }, () => c.createNamespace('jasm'));
    namespaces = [c.namespace, ...(await Promise.all(more))];
    for (let source = 0; source < SOURCES; source++) c.store.addSecret(`/source/${source}`, { source: String(source) });
    const pods = Array.from({ length: PODS }, (_, pod) => pod);
    const failures = await forEachConcurrently(pods, 32, async (pod) => {
      const namespace = namespaces[pod % NAMESPACES] ?? '';
      const ask = entry(`/source/${Math.floor(pod / NAMESPACES) % SOURCES}`, `secret-${pod}`);
      await withAccount(() => c.createPod(`pod-${pod}`, ask, { namespace }));
    });
    expect(failures).toEqual([]);
  }, 120_000);
  afterAll(() => c[Symbol.asyncDispose](), 120_000);

  /** versions returns the versions of all Secrets of ours, by key. */
  const versions = async (): Promise<ReadonlyMap<string, string | undefined>> => {
    const lists = await Promise.all(
      namespaces.map((namespace) => c.admin.list(Secret, { namespace, labelSelector: MANAGED_BY })),
    );
    return new Map(
      lists.flatMap(({ items }) =>
        items.map(({ metadata }) => [`${metadata?.namespace}/${metadata?.name}`, metadata?.resourceVersion] as const),
      ),
    );
  };

  /** restarted restarts the operator, and waits until it has done all its work, in batches. */
  const restarted = async (): Promise<void> => {
    await c.restart();
    await c.idle();
    await c.advanceTime(60_000);
  };

  it('scenario 16 syncs all of them with one read per source', async () => {
    await restarted();
    expect((await versions()).size).toBe(PODS);
    expect(c.calls.toSorted()).toEqual(once('fetchSecret'));
  }, 90_000);

  it('scenario 16 reads one version per source after a restart, no value, and writes nothing', async () => {
    // Events are sent after the change that they report: when the event of a later pod exists, those of the others do
    // too.
    c.store.addSecret('/fence', { a: 'b' });
    await c.createPod('fence', entry('/fence', 'fence'));
    await c.untilEvent('fence', 'SecretSyncSuccess');
    await c.stop();
    const before = await versions();
    const since = Date.now();
    const calls = c.calls.length;
    await restarted();
    expect(c.calls.slice(calls).toSorted()).toEqual(['probeVersion /fence', ...once('probeVersion')]);
    expect(await versions()).toEqual(before);
    await c.createPod('fence-2', entry('/fence', 'fence'));
    await c.untilEvent('fence-2', 'SecretSyncSuccess');
    expect((await c.writes(since)).filter((write) => !write.includes('/fence-2.'))).toEqual([]);
  }, 60_000);
});

it('scenario 16 calls DescribeSecret once per secret after a restart, reads no value and writes nothing', async () => {
  await using c = await startScenario();
  for (const name of ['a', 'b']) await c.aws.put(c.path(name), { name });
  const asked = ['a-1', 'a-2', 'b-1', 'b-2'];
  for (const name of asked) await c.createPod(name, c.fromAws(name.slice(0, 1), { secretName: name }));
  for (const name of asked) await c.untilEvent(name, 'SecretSyncSuccess');
  await c.stop();
  const since = Date.now();
  const calls = c.calls.length;
  await c.restart();
  await c.untilCalled(calls + 2);
  await c.idle();
  expect(c.calls.slice(calls).toSorted()).toEqual([`DescribeSecret ${c.path('a')}`, `DescribeSecret ${c.path('b')}`]);
  expect(await c.writes(since)).toEqual([]);
});

/** GatedStore returns no versions, answers only when its gate is open, and ignores abort signals. */
class GatedStore implements SecretProvider {
  readonly name = 'mock';
  readonly capabilities = { versions: false, batch: false } as const;
  readonly values = new MockProvider();
  #gate = Promise.resolve();
  #open = (): void => undefined;

  close(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  async fetchSecret(ref: SecretRef): Promise<ExternalSecret> {
    const secret = await this.values.fetchSecret(ref);
    await this.#gate;
    return { ...secret, version: undefined };
  }
}

it('scenario 16 does not call a store without versions after a restart if the Secret is not older than its pods', async () => {
  const store = new GatedStore();
  store.values.addSecret('/prod/db', { password: 'x' });
  await using c = await jasmCluster({ stores: [store] });
  // The API server's clock, which determines the age of a pod, has not stood still.
  await c.clock.advance(60_000);
  await c.createPod('web', entry('/prod/db', 'db'));
  await c.untilEvent('web', 'SecretSyncSuccess');
  await c.restart();
  await c.idle();
  expect(c.calls).toEqual(['fetchSecret /prod/db']);
});

const secretWrites = async (c: JasmCluster, since: number): Promise<readonly string[]> =>
  (await c.writes(since)).filter((write) => write.includes(' secrets '));

describe('during a fetch', () => {
  it('scenario 16 leaves the Secret to the next leader when the Lease is lost before the response arrives', async () => {
    const store = new GatedStore();
    const since = Date.now();
    await using c = await jasmCluster({
      stores: [store],
      leaderElection: { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 },
    });
    store.values.addSecret('/prod/db', { password: 'old' });
    store.close();
    await c.createPod('web', entry('/prod/db', 'db'));
    await c.untilCalled(1);
    await c.admin.patch(
      Lease,
      { namespace: c.managerNamespace, name: 'bowline-jasm' },
      { type: 'merge', body: { spec: { holderIdentity: 'another' } } },
    );
    await expect.poll(() => c.manager.status()[0]?.state).not.toBe('leading');
    store.open();
    await c.stop().catch(() => undefined);
    expect(await secretWrites(c, since)).toEqual([]);

    store.values.addSecret('/prod/db', { password: 'new' });
    await c.restart();
    expect(valuesOf(await c.untilSecret('db'))).toEqual({ password: 'new' });
    await c.idle();
    expect(c.calls).toEqual(['fetchSecret /prod/db', 'fetchSecret /prod/db']);
    expect(await secretWrites(c, since)).toEqual([`create secrets ${c.namespace}/db`]);
  });

  it('scenario 16 stops without waiting for the response, and the next process writes the Secret', async () => {
    const store = new GatedStore();
    const since = Date.now();
    await using c = await jasmCluster({ stores: [store] });
    store.values.addSecret('/prod/db', { password: 'x' });
    store.close();
    await c.createPod('web', entry('/prod/db', 'db'));
    await c.untilCalled(1);
    const stopped = c.stop();
    await c.clock.advance(60_000);
    await stopped;
    store.open();
    expect(await secretWrites(c, since)).toEqual([]);
    await c.restart();
    await c.untilSecret('db');
    await c.idle();
    expect(await secretWrites(c, since)).toEqual([`create secrets ${c.namespace}/db`]);
  });
});

/** A new namespace accepts pods as soon as it has a ServiceAccount for them. */
async function withAccount(create: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await create();
      return;
    } catch (error) {
      if (!(error instanceof Error && /serviceaccount "default" not found/.test(error.message))) throw error;
    }
  }
}
