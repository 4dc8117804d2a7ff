import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { isInvalid } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { LABELS } from '../api/names.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 10 keeps the copy of the first of two ConfigMapSyncs, and lets the second take it over when the first is deleted', async () => {
  const spec = { targetName: 'one' };
  await c.source('first', { data: { from: 'first' } });
  await c.source('second', { data: { from: 'second' } });
  await c.sync('first', spec);
  await c.untilReady('first');
  await c.sync('second', spec);
  const second = await c.untilReady('second', 'DestinationOwnedByAnother');
  const ready = findCondition(second, 'Ready');
  expect(ready?.status).toBe('False');
  expect(ready?.message).toContain(`${c.target}/one`);
  expect(ready?.message).toContain(`${c.namespace}/first; choose another name, or delete that ConfigMapSync`);
  await c.untilEvent('second', 'SyncFailed');
  expect((await c.admin.get(ConfigMap, c.to('one'))).data).toEqual({ from: 'first' });
  await c.untilReady('first');

  await c.admin.delete(ConfigMapSync, c.from('first'));
  const copy = await c.until(ConfigMap, c.to('one'), ({ data }) => data?.from === 'second');
  expect(copy.metadata?.labels).toMatchObject({ [LABELS.syncName]: 'second' });
  await c.untilReady('second');
});

it('scenario 10 does not adopt an existing object with adoptExisting: false', async () => {
  const found = await c.admin.create(ConfigMap, { metadata: c.to('existing'), data: { color: 'old' } });
  await c.source('existing');
  await c.sync('existing', { adoptExisting: false });
  const sync = await c.untilReady('existing', 'DestinationExists');
  expect(findCondition(sync, 'Ready')?.message).toContain('adoptExisting is false; delete it, choose another name');
  expect(await c.admin.get(ConfigMap, c.to('existing'))).toEqual(found);
  await c.admin.delete(ConfigMap, c.to('existing'));
  await c.untilReady('existing');
  expect((await c.admin.get(ConfigMap, c.to('existing'))).data).toEqual({ color: 'red' });
});

it.each([
  ['destinationNamespace', () => ({ destinationNamespace: c.namespace })],
  ['destinations', () => ({ destinations: [{ namespace: c.namespace, name: 'self' }] })],
  ['destinations', () => ({ destinations: [{ namespace: c.namespace, name: '' }] })],
])('scenario 10 rejects a source that is its own target in %s', async (field, spec) => {
  const error = await refusalOf(c.sync('self', spec()));
  expect(isInvalid(error)).toBe(true);
  expect(error.causes).toMatchObject([{ field: `spec.${field}` }]);
  expect(error.message).toContain('a ConfigMap cannot be its own copy; choose another namespace or another name');
});

it('scenario 10 rejects a visible cycle', async () => {
  const third = await c.createNamespace();
  const spec = { configMapName: 'cycle', targetName: 'cycle' };
  await c.source('cycle');
  await c.sync('cycle', spec);
  await c.sync('cycle-2', { ...spec, sourceNamespace: c.target, destinationNamespace: third });
  await c.untilReady('cycle-2');
  const back = { ...spec, destinationNamespace: c.namespace };
  for (const sourceNamespace of [c.target, third]) {
    const error = await refusalOf(c.sync('cycle-3', { ...back, sourceNamespace }));
    expect(error.message).toContain(`${c.namespace}/cycle is copied back to ${sourceNamespace}/cycle`);
    expect(error.message).toContain('choose another destination or name');
  }
  expect((await c.admin.get(ConfigMap, c.from('cycle'))).metadata?.labels).toBeUndefined();
});

it('scenario 10 reports a cycle that arises later on its youngest ConfigMapSync, until the cycle is broken', async () => {
  const [one, two, three] = [await c.createNamespace(), await c.createNamespace(), await c.createNamespace()];
  const label = (team: string | null) =>
    c.admin.patch(Namespace, { name: two }, { type: 'merge', body: { metadata: { labels: { team } } } });
  const spec = { configMapName: 'loop', targetName: 'loop' };
  const place = (namespace: string) => ({ namespace, name: 'loop' });
  await c.admin.create(ConfigMap, { metadata: place(two), data: { color: 'red' } });
  const team = c.uniqueName('loop');
  await c.sync('loop', { ...spec, sourceNamespace: one, destinationSelector: { matchLabels: { team } } });
  await c.untilReady('loop', 'SourceNotFound');
  const destinations = [{ namespace: one }, { namespace: three }];
  await c.sync('loop-back', { ...spec, sourceNamespace: two, destinations });
  await c.untilReady('loop-back');
  await c.untilReady('loop');

  await label(team);
  const sync = await c.untilReady('loop-back', 'CycleDetected');
  const ready = findCondition(sync, 'Ready');
  expect(ready?.status).toBe('False');
  expect(ready?.message).toMatch(/loop: the copy would be written back .*; choose another destination or name, or /);
  expect(ready?.message).not.toContain(two);
  expect(sync.status).toMatchObject({ syncedCount: 1, totalCount: 2, destinationExists: true });
  await c.untilEvent('loop-back', 'CycleDetected');
  // The other ConfigMapSync, and the copy that does not return, continue to be synced.
  await c.edit(place(one), { color: 'blue' });
  for (const namespace of [two, three])
    await c.until(ConfigMap, place(namespace), ({ data }) => data?.color === 'blue');
  await c.untilReady('loop');
  await c.idle();
  expect((await c.admin.get(ConfigMap, place(one))).data).toEqual({ color: 'blue' });

  await label(null);
  await c.untilReady('loop');
  await c.untilReady('loop-back');
  expect((await c.admin.get(ConfigMap, place(two))).metadata?.labels).toBeUndefined();
});
