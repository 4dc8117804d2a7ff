import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atScale } from '../../../../test/support/at-scale.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { type ControllerScenario, startControllerScenario, untilEqual } from './controller.test-support.ts';

const SYNCS = Math.max(10, atScale(20));
const GATEWAYS = atScale(200);
const names = Array.from({ length: SYNCS }, (_, index) => `steady-${index}`);

const gateways = Array.from({ length: GATEWAYS }, (_, index) => ({
  pod: `gateway-${index}`,
  cr: `steady-${index % SYNCS}`,
}));

let c: ControllerScenario;
beforeAll(async () => {
  // So many objects would slow down the tests that share a control plane.
  c = await startControllerScenario({ isolation: 'control-plane' });
  const failures = [
    ...(await forEachConcurrently(gateways, 16, ({ pod, cr }) => c.gateway(pod, cr))),
    ...(await forEachConcurrently(names, 16, (name) => c.sync(name))),
  ];
  expect(failures).toEqual([]);
  for (const name of names) await c.untilCondition(name, 'RepoCloned', { status: 'True' });
  const isPlanned = ({ status }: IgnitionSync): boolean => status?.discoveredGateways?.length === GATEWAYS / SYNCS;
  for (const name of names) await c.until(IgnitionSync, c.key(name), isPlanned);
  expect(await forEachConcurrently(gateways, 16, ({ pod, cr }) => c.report(cr, pod))).toEqual([]);
  for (const name of names) {
    // Details are written at most once a second.
    await c.advanceTime(1_000);
    await c.untilCondition(name, 'Ready', { status: 'True', reason: 'SyncSucceeded' });
    await c.untilEvent(name, 'SyncCompleted');
  }
  await c.idle();
}, 180_000);
afterAll(() => c[Symbol.asyncDispose]());

const versions = async (): Promise<readonly (string | undefined)[]> => {
  const { items } = await c.admin.list(IgnitionSync, { namespace: c.namespace });
  return items.map(({ metadata }) => metadata?.resourceVersion);
};

const uploadPacks = (): number => c.git.requests.filter(({ url }) => url.endsWith('/git-upload-pack')).length;

/** untilPolled advances the clock until the ref is resolved once. */
async function untilPolled(): Promise<void> {
  const [requests, uploads] = [c.lsRemotes(), uploadPacks()];
  for (let seconds = 0; seconds < 120 && c.lsRemotes() === requests; seconds++) await c.advanceTime(1_000);
  await untilEqual(() => [c.lsRemotes(), uploadPacks()], [requests + 1, uploads + 1]);
  await c.idle();
}

it('scenario 07 resolves the ref of many IgnitionSyncs of one source with one request', () => {
  expect(c.lsRemotes()).toBeLessThanOrEqual(3);
  expect(uploadPacks()).toBeLessThanOrEqual(6);
});

it(`scenario 08 writes nothing with ${SYNCS} IgnitionSyncs and ${GATEWAYS} gateways, and resolves the ref once per interval and source`, async () => {
  const since = Date.now();
  const before = await versions();
  await untilPolled();
  for (let round = 0; round < 10; round++) {
    const requests = c.lsRemotes();
    // The interval of 60 s varies by 10 %, equally for all IgnitionSyncs, and starts again with each poll.
    await c.advanceTime(53_000);
    await c.idle();
    expect(c.lsRemotes()).toBe(requests);
    await untilPolled();
  }
  expect(await versions()).toEqual(before);
  expect(await c.writes(since)).toEqual([]);
}, 60_000);

it('scenario 08 writes nothing after a restart, and resolves the ref once', async () => {
  const since = Date.now();
  const before = await versions();
  const requests = c.lsRemotes();
  const uploads = uploadPacks();
  await c.restart();
  await expect.poll(() => c.lsRemotes()).toBeGreaterThan(requests);
  await c.idle();
  expect(await versions()).toEqual(before);
  // A new process writes its certificate into the webhook configuration, which the test rig resets.
  expect((await c.writes(since)).filter((write) => !write.includes('webhookconfigurations'))).toEqual([]);
  expect(c.lsRemotes() - requests).toBe(1);
  // ls-remote itself is a POST with protocol version 2.
  expect(uploadPacks() - uploads).toBe(1);
}, 60_000);
