import { ConfigMap, keyOf, Namespace } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { LABELS } from '../api/names.ts';
import { countingWrites, type InFlight } from './counting-client.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

const NAMESPACES = 300;
/** Less than the default, so that exceeding the limit shows. */
const MAX_WRITES = 24;

const inFlight: InFlight = { current: 0, max: 0 };

let c: Scenario;
beforeAll(async () => {
  c = await startScenario({
    config: { 'configmap-sync': { maxWritesInFlight: MAX_WRITES } },
    wrapClient: (client) => countingWrites(client, inFlight),
  });
});
afterAll(() => c[Symbol.asyncDispose]());

const label = (name: string, labels: Readonly<Record<string, string | null>>) =>
  c.admin.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels } } });

/** named returns a selector of namespaces by their names. */
const named = (...values: string[]) => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
});

const untilCount = (name: string, count: number) =>
  c.until(ConfigMapSync, c.from(name), ({ status }) => status?.totalCount === count && status.syncedCount === count);

it('scenario 08 creates and deletes copies when the labels of namespaces change', async () => {
  const [first, second] = [await c.createNamespace(), await c.createNamespace()];
  await label(first, { team: c.namespace });
  await c.source('labels');
  await c.sync('labels', { destinationSelector: { matchLabels: { team: c.namespace } } });
  await untilCount('labels', 1);
  expect((await c.admin.get(ConfigMap, { namespace: first, name: 'labels' })).data).toEqual({ color: 'red' });

  await label(second, { team: c.namespace });
  await c.until(ConfigMap, { namespace: second, name: 'labels' }, ({ data }) => data?.color === 'red');
  await untilCount('labels', 2);

  await label(first, { team: null });
  await c.untilGone(ConfigMap, { namespace: first, name: 'labels' });
  const sync = await untilCount('labels', 1);
  expect(sync.status?.destinations).toMatchObject([{ namespace: second, name: 'labels', status: 'Synced' }]);
  await c.untilEvent('labels', 'DestinationDeleted');

  await c.admin.delete(Namespace, { name: second });
  await c.untilGone(Namespace, { name: second });
  await untilCount('labels', 0);
});

it('scenario 08 copies once to a namespace that is both named and selected, and never to the source itself', async () => {
  const first = await c.createNamespace();
  await c.source('both');
  await c.sync('both', {
    destinationNamespace: first,
    destinations: [{ namespace: first, name: 'both-2' }],
    destinationSelector: named(first, c.namespace),
  });
  const sync = await untilCount('both', 2);
  expect(sync.status?.destinations?.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
    `${first}/both`,
    `${first}/both-2`,
  ]);
  expect((await c.admin.get(ConfigMap, c.from('both'))).metadata?.labels).toBeUndefined();
});

it('scenario 08 excludes system namespaces, unless excludeNamespaces is set', async () => {
  const name = c.uniqueName('excluded');
  const [kept, left] = [await c.createNamespace('scenario-kept'), await c.createNamespace('scenario-left')];
  await c.source(name);
  await c.sync(name, { destinationSelector: named(kept, left, 'kube-public', 'kube-system') });
  await untilCount(name, 2);
  for (const namespace of ['kube-public', 'kube-system']) {
    expect(await c.admin.find(ConfigMap, { namespace, name })).toBeUndefined();
  }
  await c.change(name, { excludeNamespaces: ['scenario-l?ft-*', '*-system'] });
  await c.untilGone(ConfigMap, { namespace: left, name });
  await c.until(ConfigMap, { namespace: 'kube-public', name }, ({ data }) => data?.color === 'red');
  const sync = await c.untilReady(name);
  expect(sync.status?.destinations?.map(({ namespace }) => namespace)).toEqual(['kube-public', kept]);
  expect(await c.admin.find(ConfigMap, { namespace: 'kube-system', name })).toBeUndefined();
  await c.admin.delete(ConfigMapSync, c.from(name));
  await c.untilGone(ConfigMap, { namespace: 'kube-public', name });
});

it(`scenario 08 writes ${NAMESPACES} copies with one request each, a bounded number at a time`, async () => {
  const team = c.uniqueName('fan-out');
  const names: string[] = [];
  const failures = await forEachConcurrently(Array.from({ length: NAMESPACES }), 16, async () => {
    names.push(await c.createNamespace('fan-out', { team }));
  });
  expect(failures).toEqual([]);
  await c.source('fan-out');
  await c.idle();
  const before = c.requests.length;
  inFlight.max = 0;
  await c.sync('fan-out', { destinationSelector: { matchLabels: { team } } });
  const sync = await untilCount('fan-out', NAMESPACES);
  await c.idle();
  expect(sync.status?.destinations).toHaveLength(100);
  const requests = c.requests.slice(before).filter((request) => / configmaps /.test(request));
  // The names of creations are not known when they are counted: the API server reads them from the body.
  const creations = requests.filter((request) => request.startsWith('create '));
  expect(new Set(creations).size).toBe(NAMESPACES);
  expect(creations).toHaveLength(NAMESPACES);
  expect(new Set(requests.filter((request) => !creations.includes(request)))).toEqual(
    new Set([`get configmaps ${c.namespace}/fan-out`]),
  );
  expect(inFlight.max).toBeGreaterThan(MAX_WRITES / 2);
  expect(inFlight.max).toBeLessThanOrEqual(MAX_WRITES);

  inFlight.max = 0;
  await c.admin.delete(ConfigMapSync, c.from('fan-out'));
  await c.untilGone(ConfigMapSync, c.from('fan-out'));
  expect(inFlight.max).toBeLessThanOrEqual(MAX_WRITES);
  const { items } = await c.admin.list(ConfigMap, { labelSelector: `${LABELS.syncName}=fan-out` });
  expect(items.map(keyOf).filter(({ namespace = '' }) => names.includes(namespace))).toEqual([]);
}, 120_000);
