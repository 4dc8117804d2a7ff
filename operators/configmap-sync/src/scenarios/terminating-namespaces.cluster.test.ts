import { ConfigMap, Namespace } from '@bowline/kubernetes';
import type { Log } from '@bowline/runtime';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

const warnings: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void warnings.push(message),
  error: (message) => void warnings.push(message),
  with: () => log,
};

let c: Scenario;
beforeAll(async () => {
  c = await startScenario({ log });
});
afterAll(() => c[Symbol.asyncDispose]());
beforeEach(() => warnings.splice(0));

const selectors = { destinationSelector: { matchLabels: { team: 'going' } } };

/**
 * selectedNamespace creates a namespace that is selected, and whose deletion does not complete until `finishDeletion`.
 */
async function selectedNamespace() {
  const name = await c.createNamespace('scenario-going');
  await c.admin.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels: { team: 'going' } } } });
  const held = { namespace: name, name: 'held' };
  await c.admin.create(ConfigMap, { metadata: { ...held, finalizers: ['example.com/held'] } });
  const finishDeletion = async (): Promise<void> => {
    await c.admin.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(Namespace, { name });
  };
  return { name, finishDeletion };
}

const untilCount = (name: string, count: number) =>
  c.until(ConfigMapSync, c.from(name), ({ status }) => status?.totalCount === count && status.syncedCount === count);

it('does not select a namespace that is being deleted, and neither logs a warning nor retries', async () => {
  const [staying, going] = [await c.createNamespace('scenario-going'), await selectedNamespace()];
  const labels = { metadata: { labels: { team: 'going' } } };
  await c.admin.patch(Namespace, { name: staying }, { type: 'merge', body: labels });
  const names = ['first', 'second'];
  for (const name of names) {
    await c.source(name);
    await c.sync(name, selectors);
  }
  for (const name of names) await untilCount(name, 2);

  await c.admin.delete(Namespace, { name: going.name });
  for (const name of names) {
    const { status } = await untilCount(name, 1);
    expect(status?.destinations?.map(({ namespace }) => namespace)).toEqual([staying]);
    await c.untilGone(ConfigMap, { namespace: going.name, name });
    await c.untilReady(name);
  }
  await c.idle();
  // A retry would wait in the queue; the operator's own clock stands still.
  const waiting = c.manager.status().flatMap(({ controllers }) => controllers.flatMap(({ keys }) => keys));
  expect(waiting.filter(({ failures }) => failures > 0)).toEqual([]);
  expect(warnings).toEqual([]);

  await going.finishDeletion();
  await c.idle();
  expect(warnings).toEqual([]);
});

it('does not change copies in a namespace that is being deleted, regardless of the deletion policy', async () => {
  const going = await selectedNamespace();
  await c.source('kept');
  await c.sync('kept', { ...selectors, deletionPolicy: 'Orphan' });
  await c.until(ConfigMap, { namespace: going.name, name: 'kept' }, () => true);
  const from = c.requests.length;
  await c.admin.delete(Namespace, { name: going.name });
  await c.untilGone(ConfigMap, { namespace: going.name, name: 'kept' });
  await going.finishDeletion();
  await c.idle();
  // A creation may be attempted, and refused, if the deletion of a copy is observed before that of its namespace.
  const writes = c.requests.slice(from).filter((each) => /^(patch|update|delete) configmaps /.test(each));
  expect(writes).toEqual([]);
  expect(warnings).toEqual([]);
});
