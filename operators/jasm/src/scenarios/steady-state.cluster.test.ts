import { Pod, Secret } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  entry,
  type JasmCluster,
  jasmCluster,
  type RequestEntry,
  secretKey,
} from '../testing/jasm-cluster.test-support.ts';
import { ExpiringWatches } from './expiring-watches.test-support.ts';

const PODS = 300;
const MINUTE_MS = 60_000;

/** The requests of an idle operator: for its Lease, and watches that are restarted. */
const UNCOUNTED = /^(?:\w+ leases|list|watch) /;

const watches = new ExpiringWatches();
const metrics = createMetrics({ process: false });

let c: JasmCluster;
beforeAll(async () => {
  c = await jasmCluster({ metrics, wrapClient: (client) => watches.through(client) });
  for (let source = 0; source < 10; source++) c.store.addSecret(`/source/${source}`, { source: String(source) });
  await c.admin.create(Secret, { metadata: secretKey(c, 'theirs'), data: { a: 'eA==' } });
  const pods = Array.from({ length: PODS }, (_, pod) => pod);
  const failures = await forEachConcurrently(pods, 32, (pod) => c.createPod(`pod-${pod}`, askOf(pod)));
  expect(failures).toEqual([]);
  await settled('seen');
  // They are served in batches.
  await c.advanceTime(MINUTE_MS);
  await settled('first');
}, 90_000);
afterAll(() => c[Symbol.asyncDispose]());

/** askOf returns the request of a pod. Some requests are never fulfilled: that, too, is a steady state. */
function askOf(pod: number): RequestEntry {
  if (pod % 50 === 1) return 'provider: mock';
  if (pod % 50 === 2) return entry('/source/0', 'theirs');
  if (pod % 50 === 3) return entry('/source/0', 'theirs', { creationPolicy: 'Merge' });
  return entry(`/source/${pod % 10}`, `secret-${pod % 200}`);
}

/**
 * settled waits until everything so far was observed and reported: a later pod has its event, and events keep their
 * order.
 */
async function settled(pod: string): Promise<void> {
  c.store.addSecret(`/fence/${pod}`, { a: 'b' });
  await c.createPod(pod, entry(`/fence/${pod}`, pod));
  await c.untilEvent(pod, 'SecretSyncSuccess');
  await c.idle();
}

it.each<[what: string, ms: number]>([
  ['ten minutes', 10 * MINUTE_MS],
  ['an hour', 60 * MINUTE_MS],
])(`scenario 05 calls no store and writes nothing in %s with ${PODS} pods`, async (what, ms) => {
  const since = Date.now();
  const [calls, requests] = [c.calls.length, c.requests.length];
  await c.advanceTime(ms);
  expect(c.calls.slice(calls)).toEqual([]);
  expect(c.requests.slice(requests).filter((request) => !UNCOUNTED.test(request))).toEqual([]);
  const fence = `after-${what.replaceAll(' ', '-')}`;
  await settled(fence);
  expect((await c.writes(since)).filter((write) => !write.includes(`/${fence}`))).toEqual([]);
});

it('scenario 05 calls no store and writes nothing when the status of pods changes', async () => {
  const since = Date.now();
  const [calls, requests] = [c.calls.length, c.requests.length];
  const pods = Array.from({ length: PODS }, (_, pod) => `pod-${pod}`);
  const failures = await forEachConcurrently(pods, 32, (name) =>
    c.admin.patch(
      Pod,
      secretKey(c, name),
      { type: 'merge', body: { status: { phase: 'Running', message: 'at work' } } },
      { subresource: 'status' },
    ),
  );
  expect(failures).toEqual([]);
  await settled('after-status');
  await c.advanceTime(MINUTE_MS);
  const isOther = (request: string): boolean => !request.includes('after-status');
  expect(c.calls.slice(calls)).toEqual(['fetchSecret /fence/after-status']);
  expect(c.requests.slice(requests).filter((request) => !UNCOUNTED.test(request) && isOther(request))).toEqual([]);
  expect((await c.writes(since)).filter(isOther)).toEqual([]);
});

it('scenario 05 calls no store and writes nothing when all watches are relisted', async () => {
  const since = Date.now();
  const [calls, requests] = [c.calls.length, c.requests.length];
  watches.expire();
  // Pods, Secrets of ours, other Secrets, namespaces.
  await expect.poll(relists).toBeGreaterThanOrEqual(4);
  await c.idle();
  expect(c.calls.slice(calls)).toEqual([]);
  expect(c.requests.slice(requests).filter((request) => !UNCOUNTED.test(request))).toEqual([]);
  await settled('after-lists');
  expect((await c.writes(since)).filter((write) => !write.includes('after-lists'))).toEqual([]);
});

/** relists returns how many complete lists were made after the first ones. */
async function relists(): Promise<number> {
  const lines = (await metrics.render()).matchAll(/^bowline_informer_relists_total\{.*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}
