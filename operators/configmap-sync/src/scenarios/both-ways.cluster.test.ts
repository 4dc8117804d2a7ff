import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { REQUESTS } from '../api/names.ts';
import { type ConfigMapKey, type Scenario, type SpecChange, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

type Policy = NonNullable<SpecChange['conflictPolicy']>;

/** start creates a source and a ConfigMapSync that keeps both sides the same. */
async function start(name: string, conflictPolicy: Policy = 'SourceWins', data = { color: 'red', size: 'l' }) {
  await c.source(name, { data });
  await c.sync(name, { direction: 'Bidirectional', conflictPolicy });
  await c.untilReady(name);
  await c.idle();
}

const dataOf = async (key: ConfigMapKey) => (await c.admin.get(ConfigMap, key)).data;
const untilData = (key: ConfigMapKey, data: Readonly<Record<string, string>>) =>
  c.until(ConfigMap, key, (found) => JSON.stringify(sorted(found.data)) === JSON.stringify(sorted(data)));
const sorted = (data: Readonly<Record<string, string>> = {}) =>
  Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** atOnce edits both sides before the operator observes either: it is stopped meanwhile. */
async function atOnce(
  name: string,
  left: Readonly<Record<string, string | null>>,
  right: Readonly<Record<string, string | null>>,
  first: 'left' | 'right' = 'left',
): Promise<void> {
  await c.stop();
  const edits = [() => c.edit(c.from(name), left), () => c.edit(c.to(name), right)];
  for (const edit of first === 'left' ? edits : edits.toReversed()) await edit();
  await c.restart();
}

it('scenario 16 applies edits of either side to the other', async () => {
  await start('sides');
  await c.edit(c.from('sides'), { color: 'blue', size: null, shape: 'round' });
  await untilData(c.to('sides'), { color: 'blue', shape: 'round' });
  await c.untilReady('sides');
  await c.idle();
  await c.edit(c.to('sides'), { color: 'green', shape: null, weight: '1' });
  await untilData(c.from('sides'), { color: 'green', weight: '1' });
  await c.untilReady('sides');
  await c.idle();
  expect(await dataOf(c.to('sides'))).toEqual({ color: 'green', weight: '1' });
  const { labels, annotations } = (await c.admin.get(ConfigMap, c.from('sides'))).metadata ?? {};
  expect({ labels, annotations }).toEqual({ labels: undefined, annotations: undefined });
});

it('scenario 16 applies the first binary value and the first text of a side to the other', async () => {
  await start('bytes');
  const { data } = await c.admin.patch(ConfigMap, c.to('bytes'), {
    type: 'merge',
    body: { binaryData: { blob: 'AAEC' } },
  });
  await c.until(ConfigMap, c.from('bytes'), ({ binaryData }) => binaryData?.blob === 'AAEC');
  await c.untilReady('bytes');
  await c.idle();
  await c.admin.patch(ConfigMap, c.from('bytes'), { type: 'merge', body: { data: null } });
  const bytes = await c.until(ConfigMap, c.to('bytes'), (copy) => copy.data === undefined);
  expect(bytes.binaryData).toEqual({ blob: 'AAEC' });
  await c.untilReady('bytes');
  await c.idle();
  await c.admin.patch(ConfigMap, c.to('bytes'), { type: 'merge', body: { data } });
  await untilData(c.from('bytes'), data ?? {});
});

it('scenario 16 merges concurrent edits of different keys', async () => {
  await start('merge');
  await atOnce('merge', { color: 'left', gone: null, new: '1' }, { size: 'right', other: '2' });
  const merged = { color: 'left', size: 'right', new: '1', other: '2' };
  await untilData(c.from('merge'), merged);
  await untilData(c.to('merge'), merged);
  const sync = await c.untilReady('merge');
  expect(findCondition(sync, 'Conflict')).toMatchObject({ status: 'False', reason: 'None' });
});

it.each<readonly [string, Policy, 'left' | 'right', string]>([
  ['source-wins', 'SourceWins', 'left', 'left'],
  ['newest-right', 'NewestWins', 'left', 'right'],
  ['newest-left', 'NewestWins', 'right', 'left'],
])('scenario 16 resolves edits of the same key by policy: %s', async (name, policy, first, winner) => {
  await start(name, policy);
  await atOnce(name, { color: 'left', new: '1' }, { color: 'right', size: 'xl' }, first);
  const decided = { color: winner, new: '1', size: 'xl' };
  await untilData(c.from(name), decided);
  await untilData(c.to(name), decided);
  await c.untilReady(name);
});

it.each<readonly [Policy, 'Source' | 'Destination']>([
  ['Manual', 'Source'],
  ['Manual', 'Destination'],
  ['SkipIfModified', 'Source'],
])('scenario 16 waits for a decision about a key that both sides changed with %s: %s', async (policy, side) => {
  const name = `${policy}-${side}`.toLowerCase();
  await start(name, policy);
  await atOnce(name, { color: 'left', new: '1' }, { color: 'right', size: 'xl' });
  const waiting = await c.untilReady(name, 'KeyConflict');
  expect(findCondition(waiting, 'Conflict')).toMatchObject({ status: 'True', reason: 'KeyConflict' });
  expect(findCondition(waiting, 'Conflict')?.message).toContain(
    'both sides changed these keys: color; set the annotation',
  );
  await c.untilEvent(name, 'ConflictDetected');
  // Keys without a conflict continue to be synced.
  expect(await dataOf(c.from(name))).toEqual({ color: 'left', new: '1', size: 'xl' });
  expect(await dataOf(c.to(name))).toEqual({ color: 'right', new: '1', size: 'xl' });

  const annotations = { [REQUESTS.resolve]: side };
  await c.admin.patch(ConfigMapSync, c.from(name), { type: 'merge', body: { metadata: { annotations } } });
  const resolved = { color: side === 'Source' ? 'left' : 'right', new: '1', size: 'xl' };
  await untilData(c.from(name), resolved);
  await untilData(c.to(name), resolved);
  const done = await c.until(ConfigMapSync, c.from(name), ({ metadata }) => metadata?.annotations === undefined);
  expect(done.metadata?.name).toBe(name);
  await c.untilReady(name);
});

it('scenario 16 ends a conflict when both sides become equal', async () => {
  await start('same', 'Manual');
  await atOnce('same', { color: 'left' }, { color: 'right' });
  await c.untilReady('same', 'KeyConflict');
  await c.edit(c.to('same'), { color: 'left' });
  const sync = await c.untilReady('same');
  expect(findCondition(sync, 'Conflict')).toMatchObject({ status: 'False' });
});

/** freeze makes a copy immutable, and adds a label of another client. */
const freeze = (name: string) =>
  c.admin.patch(ConfigMap, c.to(name), {
    type: 'merge',
    body: { immutable: true, metadata: { labels: { keep: 'me' } } },
  });

it('scenario 16 recreates a copy that was made immutable', async () => {
  await start('frozen');
  const frozen = await freeze('frozen');
  await c.edit(c.from('frozen'), { color: 'blue', size: null });
  const copy = await untilData(c.to('frozen'), { color: 'blue' });
  expect(copy.metadata?.uid).not.toBe(frozen.metadata?.uid);
  expect(copy.metadata?.labels).toEqual(frozen.metadata?.labels);
  expect(copy.immutable).toBeUndefined();
  await c.untilEvent('frozen', 'DestinationRecreated');
  await c.untilReady('frozen');
  await c.idle();
  await c.edit(c.to('frozen'), { color: 'green' });
  await untilData(c.from('frozen'), { color: 'green' });
});

it('scenario 16 keeps and backs up the conflicting keys of an immutable copy', async () => {
  await start('icy', 'Manual');
  await atOnce('icy', { color: 'left' }, { color: 'right' });
  await c.untilReady('icy', 'KeyConflict');
  const { metadata } = await freeze('icy');
  await c.edit(c.from('icy'), { size: 'xl' });
  const copy = await untilData(c.to('icy'), { color: 'right', size: 'xl' });
  expect(copy.metadata?.uid).not.toBe(metadata?.uid);
  expect(await dataOf(c.to('icy-before-sync'))).toEqual({ color: 'right', size: 'l' });
  await c.untilReady('icy', 'KeyConflict');
});

it('scenario 16 does not change an existing immutable object, and reports it', async () => {
  await c.admin.create(ConfigMap, { metadata: c.to('stone'), data: { color: 'old' }, immutable: true });
  await c.source('stone');
  await c.sync('stone', { direction: 'Bidirectional' });
  await c.untilReady('stone', 'DestinationImmutable');
  expect(await dataOf(c.to('stone'))).toEqual({ color: 'old' });
});

it('scenario 16 recreates either side from the other', async () => {
  await start('again');
  await c.admin.delete(ConfigMap, c.to('again'));
  await untilData(c.to('again'), { color: 'red', size: 'l' });
  await c.untilReady('again');
  await c.idle();
  await c.admin.delete(ConfigMap, c.from('again'));
  await untilData(c.from('again'), { color: 'red', size: 'l' });
  await c.untilReady('again');
});

it('scenario 16 deletes the copy with its source with sourceDeletionPolicy Delete', async () => {
  await c.source('gone');
  await c.sync('gone', { direction: 'Bidirectional', sourceDeletionPolicy: 'Delete' });
  await c.untilReady('gone');
  await c.idle();
  await c.admin.delete(ConfigMap, c.from('gone'));
  await c.untilGone(ConfigMap, c.to('gone'));
  await c.untilReady('gone', 'SourceNotFound');
  expect(await c.admin.find(ConfigMap, c.from('gone'))).toBeUndefined();
});
