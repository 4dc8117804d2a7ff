import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS } from '../api/names.ts';
import { MAX_CONTENT_BYTES } from '../content/content-size.ts';
import { type Scenario, type SpecChange, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
  await c.source('content', {
    data: { color: 'red', size: 'l', 'app.conf': 'host=one\nport=1\n', 'old.conf': 'host=two\n' },
    binaryData: { blob: 'AAEC' },
  });
});
afterAll(() => c[Symbol.asyncDispose]());

const text = { color: 'red', size: 'l' };
const files = { 'app.conf': 'host=one\nport=1\n', 'old.conf': 'host=two\n' };
const binaryData = { blob: 'AAEC' };

interface Content {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const cases: readonly (readonly [string, SpecChange, Content])[] = [
  ['include', { keys: { include: ['*.conf', 'blob'] } }, { data: files, binaryData }],
  ['exclude', { keys: { exclude: ['*.conf', 'b*'] } }, { data: text }],
  [
    'include-exclude',
    { keys: { include: ['*.conf'], exclude: ['old.*'] } },
    { data: { 'app.conf': files['app.conf'] } },
  ],
  ['nothing', { keys: { include: ['none'] } }, {}],
  ['rename', only(['color'], { rename: { from: 'color', to: 'colour' } }), { data: { colour: 'red' } }],
  ['rename-bytes', only(['blob'], { rename: { from: 'blob', to: 'bytes' } }), { binaryData: { bytes: 'AAEC' } }],
  [
    'prefix',
    only(['color', 'blob'], { prefix: 'my.' }),
    { data: { 'my.color': 'red' }, binaryData: { 'my.blob': 'AAEC' } },
  ],
  ['suffix', only(['color'], { suffix: '.txt' }), { data: { 'color.txt': 'red' } }],
  ['set', only(['color'], { set: { key: 'stage', value: 'test' } }), { data: { color: 'red', stage: 'test' } }],
  ['remove', only(['color', 'size'], { remove: { key: 'size' } }), { data: { color: 'red' } }],
  [
    'replace',
    only(['*.conf', 'color'], { replace: { keys: ['*.conf'], pattern: 'host=(\\w+)', replacement: 'host=$1.local' } }),
    { data: { 'app.conf': 'host=one.local\nport=1\n', 'old.conf': 'host=two.local\n', color: 'red' } },
  ],
  [
    'template',
    only(['color', 'size'], { template: { key: 'both', template: '{{ data.color }}/{{ data.size.upperAscii() }}' } }),
    { data: { ...text, both: 'red/L' } },
  ],
  [
    'in-order',
    only(
      ['color'],
      { rename: { from: 'color', to: 'a' } },
      { template: { key: 'b', template: '<{{ data.a }}>' } },
      { prefix: 'x-' },
    ),
    { data: { 'x-a': 'red', 'x-b': '<red>' } },
  ],
];

function only(include: readonly string[], ...transforms: NonNullable<SpecChange['transforms']>): SpecChange {
  return { keys: { include: [...include] }, transforms };
}

/** sync creates a ConfigMapSync of the content under its own name. */
const sync = (name: string, spec: SpecChange) => c.sync(name, { configMapName: 'content', targetName: name, ...spec });

it.each(cases)('scenario 09 copies the result of: %s', async (name, spec, expected) => {
  await sync(name, spec);
  await c.untilReady(name);
  const { data, binaryData } = await c.admin.get(ConfigMap, c.to(name));
  expect({ ...(data ? { data } : {}), ...(binaryData ? { binaryData } : {}) }).toEqual(expected);
});

it('scenario 09 applies changes of the source and of the transforms', async () => {
  await c.source('moving', { data: { a: '1' } });
  await c.sync('moving', { transforms: [{ prefix: 'x-' }] });
  await c.untilReady('moving');
  await c.edit(c.from('moving'), { a: null, b: '2' });
  const edited = await c.until(ConfigMap, c.to('moving'), ({ data }) => data?.['x-b'] === '2');
  expect(edited.data).toEqual({ 'x-b': '2' });
  await c.change('moving', { transforms: [{ suffix: '-y' }] });
  const changed = await c.until(ConfigMap, c.to('moving'), ({ data }) => data?.['b-y'] === '2');
  expect(changed.data).toEqual({ 'b-y': '2' });
});

it.each<readonly [string, SpecChange, string, string]>([
  ['invalid-key', only(['color'], { prefix: '..' }), 'spec.transforms[0].prefix', '"..color"'],
  ['long-key', only(['color'], { suffix: 'x'.repeat(250) }), 'spec.transforms[0].suffix', '253'],
  [
    'collision',
    only(['color', 'size'], { rename: { from: 'color', to: 'size' } }),
    'spec.transforms[0].rename',
    'both become the key "size"',
  ],
  [
    'missing-key',
    only(['color'], { template: { key: 'b', template: '{{ data.none }}' } }),
    'spec.transforms[0].template',
    'none',
  ],
])('scenario 09 reports InvalidSpec if a transform does not fit: %s', async (name, spec, field, problem) => {
  await sync(name, spec);
  const { status } = await c.untilReady(name, 'InvalidSpec');
  const ready = findCondition({ status }, 'Ready');
  expect(ready?.status).toBe('False');
  expect(ready?.message).toContain(`${field}: `);
  expect(ready?.message).toContain(problem);
  expect(findCondition({ status }, 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
  expect(status).toMatchObject({ syncStatus: 'Failed', syncedCount: 0, destinationExists: false });
  await c.untilEvent(name, 'SyncFailed');
  expect(await c.admin.find(ConfigMap, c.to(name))).toBeUndefined();
  await c.change(name, { transforms: null });
  await c.untilReady(name);
});

it('scenario 09 keeps the last valid copy while the spec is invalid', async () => {
  await c.source('good', { data: { a: '1' } });
  await c.sync('good', { transforms: [{ rename: { from: 'a', to: 'z' } }] });
  await c.untilReady('good');
  const copy = await c.admin.get(ConfigMap, c.to('good'));
  await c.edit(c.from('good'), { z: '2' });
  await c.untilReady('good', 'InvalidSpec');
  expect(await c.admin.get(ConfigMap, c.to('good'))).toEqual(copy);
});

const freeze = (name: string) =>
  c.admin.patch(ConfigMap, c.to(name), {
    type: 'merge',
    body: { immutable: true, metadata: { labels: { own: 'kept' } } },
  });

it('scenario 11 recreates a copy that was made immutable, with its metadata', async () => {
  await c.source('frozen');
  await c.sync('frozen');
  await c.untilReady('frozen');
  const frozen = await freeze('frozen');
  await c.edit(c.from('frozen'), { color: 'blue' });
  const copy = await c.until(ConfigMap, c.to('frozen'), ({ data }) => data?.color === 'blue');
  expect(copy.metadata?.uid).not.toBe(frozen.metadata?.uid);
  expect(copy.metadata?.labels).toEqual(frozen.metadata?.labels);
  expect(copy.immutable).toBeUndefined();
  await c.untilEvent('frozen', 'DestinationRecreated');
  await c.untilReady('frozen');
});

it('scenario 11 backs up an immutable copy, and keeps the keys of other clients, with Merge', async () => {
  await c.source('icy', { data: { color: 'red', size: 'l' } });
  await c.sync('icy', { conflictPolicy: 'Merge' });
  await c.untilReady('icy');
  await c.edit(c.to('icy'), { foreign: 'kept', shape: 'theirs' });
  const frozen = await freeze('icy');
  await c.edit(c.from('icy'), { color: 'blue', size: null, shape: 'round' });
  const copy = await c.until(ConfigMap, c.to('icy'), ({ data }) => data?.color === 'blue');
  expect(copy.metadata?.uid).not.toBe(frozen.metadata?.uid);
  expect(copy.data).toEqual({ color: 'blue', foreign: 'kept', shape: 'theirs' });
  const backup = await c.admin.get(ConfigMap, c.to('icy-before-sync'));
  expect(backup.data).toEqual({ color: 'red', size: 'l', foreign: 'kept', shape: 'theirs' });
  await c.untilReady('icy', 'KeyConflict');
});

it('scenario 11 does not copy immutable', async () => {
  await c.source('constant', { data: { color: 'red' }, immutable: true });
  await c.sync('constant');
  await c.untilReady('constant');
  const copy = await c.admin.get(ConfigMap, c.to('constant'));
  expect(copy.data).toEqual({ color: 'red' });
  expect(copy.immutable).toBeUndefined();
});

it('scenario 11 does not change an existing immutable object, and reports it', async () => {
  const found = await c.admin.create(ConfigMap, { metadata: c.to('stone'), data: { color: 'old' }, immutable: true });
  await c.source('stone');
  await c.sync('stone');
  const sync = await c.untilReady('stone', 'DestinationImmutable');
  expect(findCondition(sync, 'Ready')?.message).toContain(
    'the ConfigMap is immutable and was not created by this ConfigMapSync; delete it, or choose another name',
  );
  await c.untilEvent('stone', 'SyncFailed');
  expect(await c.admin.get(ConfigMap, c.to('stone'))).toEqual(found);
  await c.admin.delete(ConfigMap, c.to('stone'));
  await c.untilReady('stone');
});

it('scenario 11 copies a source of the maximum size', async () => {
  const { causes } = await refusalOf(c.source('huge', { data: { a: 'x'.repeat(MAX_CONTENT_BYTES + 1) } }));
  expect(causes).toMatchObject([{ reason: 'FieldValueTooLong' }]);
  await c.source('full', { data: { a: 'x'.repeat(MAX_CONTENT_BYTES) } });
  await c.sync('full');
  await c.untilReady('full');
  expect((await c.admin.get(ConfigMap, c.to('full'))).data?.a).toHaveLength(MAX_CONTENT_BYTES);
});

it('scenario 11 reports SyncFailed when the result of the transforms is too large', async () => {
  await c.source('grows', { data: { a: 'x'.repeat(MAX_CONTENT_BYTES - 10) } });
  await c.sync('grows', { transforms: [{ set: { key: 'b', value: '12345678901' } }] });
  const sync = await c.untilReady('grows', 'SyncFailed');
  const { message } = findCondition(sync, 'Ready') ?? {};
  expect(message).toContain(`spec.transforms: the result has ${MAX_CONTENT_BYTES + 1} bytes`);
  expect(message).toContain(`a ConfigMap holds at most ${MAX_CONTENT_BYTES}; exclude keys, or shorten values`);
  expect(findCondition(sync, 'Stalled')?.status).toBe('True');
  expect(sync.status?.destinations).toMatchObject([{ status: 'Failed', reason: 'TooLarge' }]);
  await c.untilEvent('grows', 'SyncFailed');
  expect(await c.admin.find(ConfigMap, c.to('grows'))).toBeUndefined();
  await c.change('grows', { transforms: [{ set: { key: 'b', value: '1234567890' } }] });
  await c.untilReady('grows');
});

it('copies the labels and annotations that the spec selects, and removes them again', async () => {
  const labels = { 'app.kubernetes.io/instance': 'argo', tier: 'a', 'team.example.com/name': 'x' };
  const annotations = { 'argocd.argoproj.io/tracking-id': 'x', note: 'n' };
  await c.admin.create(ConfigMap, { metadata: { ...c.from('meta'), labels, annotations }, data: { a: '1' } });
  const metadata = {
    labels: { given: 'yes' },
    annotations: { hint: 'h' },
    copyLabels: ['tier', 'app.kubernetes.io/*', 'team.example.com/*'],
    copyAnnotations: ['**'],
  };
  await c.sync('meta', { metadata });
  await c.untilReady('meta');
  const copy = await c.admin.get(ConfigMap, c.to('meta'));
  expect(copy.metadata?.labels).toMatchObject({ given: 'yes', tier: 'a', 'team.example.com/name': 'x' });
  expect(copy.metadata?.labels).not.toHaveProperty(['app.kubernetes.io/instance']);
  expect(copy.metadata?.annotations).toMatchObject({ hint: 'h', note: 'n' });
  expect(copy.metadata?.annotations).not.toHaveProperty(['argocd.argoproj.io/tracking-id']);
  await c.change('meta', { metadata: null });
  await c.untilReady('meta');
  const after = await c.admin.get(ConfigMap, c.to('meta'));
  expect(Object.keys(after.metadata?.labels ?? {})).toHaveLength(3);
  expect(after.metadata?.annotations).not.toHaveProperty('note');
  // The content did not change, so its time did not either.
  const at = ANNOTATIONS.syncedAt;
  expect(after.metadata?.annotations?.[at]).toBe(copy.metadata?.annotations?.[at]);
});

it('changes nothing while it is paused', async () => {
  await c.source('paused');
  await c.sync('paused');
  await c.untilReady('paused');
  await c.change('paused', { paused: true });
  const paused = await c.untilReady('paused', 'Paused');
  expect(findCondition(paused, 'Ready')).toMatchObject({ status: 'False' });
  await c.edit(c.from('paused'), { color: 'blue' });
  const edited = await c.edit(c.to('paused'), { extra: '1' });
  await c.sync('after-paused', { configMapName: 'paused', targetName: 'after-paused' });
  await c.untilReady('after-paused');
  await c.idle();
  expect(await c.admin.get(ConfigMap, c.to('paused'))).toEqual(edited);
  await c.change('paused', { paused: false });
  const copy = await c.until(ConfigMap, c.to('paused'), ({ data }) => data?.color === 'blue');
  expect(copy.data).toEqual({ color: 'blue' });
  await c.until(ConfigMapSync, c.from('paused'), (sync) => findCondition(sync, 'Ready')?.status === 'True');
});
