import { ConfigMap, keyOf } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atScale } from '../../../../test/support/at-scale.ts';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { MANAGED_BY, MANAGER } from '../api/names.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

const SYNCS = atScale(500);
const TEN_MINUTES_MS = 600_000;

let c: Scenario;
/** The versions of every ConfigMapSync and copy. */
let before: ReadonlyMap<string, string | undefined>;

beforeAll(async () => {
  c = await startScenario();
  await c.source('steady');
  const names = Array.from({ length: SYNCS }, (_, index) => `steady-${index}`);
  const failures = await forEachConcurrently(names, 16, async (name) => {
    // One in ten waits for a source that never appears: that, too, is a steady state.
    const configMapName = Number(name.slice(7)) % 10 === 0 ? 'none' : 'steady';
    await c.sync(name, { configMapName, targetName: name });
  });
  expect(failures).toEqual([]);
  const isSettled = ({ status }: ConfigMapSync) => status?.conditions?.some(({ type }) => type === 'Ready') ?? false;
  const limits = { timeoutMs: 90_000 };
  await c.untilList(ConfigMapSync, {}, (syncs) => syncs.length === SYNCS && syncs.every(isSettled), limits);
  await untilSent('settled');
  await c.idle();
  before = await versions();
  expect(before.size).toBe(SYNCS + SYNCS * 0.9 + 2);
}, 120_000);
afterAll(() => c[Symbol.asyncDispose]());

async function versions(): Promise<ReadonlyMap<string, string | undefined>> {
  const syncs = await c.admin.list(ConfigMapSync, { namespace: c.namespace });
  const copies = await c.admin.list(ConfigMap, {
    namespace: c.target,
    labelSelector: `${MANAGED_BY}=${MANAGER}`,
  });
  return new Map(
    [...syncs.items, ...copies.items].map((object) => {
      const { kind, metadata } = object;
      return [`${kind} ${keyOf(object).name}`, metadata?.resourceVersion];
    }),
  );
}

/** sourceReads returns how many sources were read since then: every run reads one. */
const sourceReads = (from: number) =>
  c.requests.slice(from).filter((request) => request.startsWith('get configmaps ')).length;

/** untilSent creates one more ConfigMapSync and waits for its event: those before it have been sent by then. */
async function untilSent(name: string): Promise<void> {
  await c.sync(name, { configMapName: 'steady', targetName: name });
  await c.untilEvent(name, 'Created');
}

it(`scenario 17 writes nothing in ten minutes with ${SYNCS} ConfigMapSyncs, and changes no status`, async () => {
  const since = Date.now();
  const start = c.requests.length;
  await c.advanceTime(TEN_MINUTES_MS, 60_000);
  // Every one of them was reconciled in that time.
  expect(sourceReads(start)).toBeGreaterThanOrEqual(SYNCS);
  expect(await versions()).toEqual(before);
  await untilSent('last-17');
  expect((await c.writes(since)).filter((write) => !write.includes('last-17'))).toEqual([]);
}, 60_000);

it(`scenario 13 writes nothing after a restart with ${SYNCS} ConfigMapSyncs`, async () => {
  const since = Date.now();
  const start = c.requests.length;
  await c.restart();
  await expect.poll(() => sourceReads(start)).toBeGreaterThanOrEqual(SYNCS);
  await c.idle();
  const after = await versions();
  for (const [object, version] of before) expect(after.get(object), object).toBe(version);
  await untilSent('last-13');
  // A new process writes its certificate into the webhook configuration, which the test rig resets.
  const writes = (await c.writes(since)).filter((write) => !/last-13|webhookconfigurations/.test(write));
  expect(writes).toEqual([]);
}, 60_000);
