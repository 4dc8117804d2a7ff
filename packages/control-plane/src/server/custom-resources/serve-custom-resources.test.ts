import { VirtualClock } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { trackFields } from '../fields/track-fields.ts';
import { builtInResources } from '../registry/built-in-resources.ts';
import { Registry } from '../registry/registry.ts';
import { Storage } from '../storage/storage.ts';
import { box, boxes, DEFINITIONS, startCustomServer } from './custom-server.test-support.ts';
import { serveCustomResources } from './serve-custom-resources.ts';

const BOXES = '/apis/example.test/v1/namespaces/default/boxes';
const NAMED = `${DEFINITIONS}/boxes.example.test`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const TEXT = { type: 'string' };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function conditions(object: Record<string, unknown>): string[] {
  const { conditions: list } = (object.status ?? {}) as { conditions?: readonly Condition[] | null };
  return (list ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

describe('a definition', () => {
  test('is accepted, installed and established in this order', async () => {
    using server = await startCustomServer();
    const events = await server.stream(`${DEFINITIONS}?watch=true`);
    const created = await server.call('POST', DEFINITIONS, boxes());
    expect([created.status, conditions(created.body)]).toEqual([201, []]);
    const seen: string[][] = [];
    for await (const event of events) {
      seen.push(conditions(event.object as Record<string, unknown>));
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([
      [],
      ['NamesAccepted=True NoConflicts', 'Established=False Installing'],
      ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'],
    ]);
    expect((await server.call('GET', BOXES)).status).toBe(200);
  });

  test('waits for names that another definition uses', async () => {
    using server = await startCustomServer();
    await server.call('POST', DEFINITIONS, boxes());
    const rival = boxes({}, { names: { plural: 'crates', kind: 'Crate', shortNames: ['box'] } });
    await server.call('POST', DEFINITIONS, { ...rival, metadata: { name: 'crates.example.test' } });
    const refused = (await server.call('GET', `${DEFINITIONS}/crates.example.test`)).body;
    expect(conditions(refused)).toEqual(['NamesAccepted=False ShortNamesConflict', 'Established=False NotAccepted']);
    expect((await server.call('GET', '/apis/example.test/v1/namespaces/default/crates')).status).toBe(404);
    await server.call('DELETE', NAMED);
    const accepted = (await server.call('GET', `${DEFINITIONS}/crates.example.test`)).body;
    expect(conditions(accepted)).toEqual(['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted']);
  });

  test('is removed after its last object and accepts no new objects meanwhile', async () => {
    using server = await startCustomServer();
    await server.call('POST', DEFINITIONS, boxes());
    await server.call('POST', BOXES, box('free'));
    await server.call('POST', BOXES, box('held', {}, { finalizers: ['example.test/hold'] }));
    const deleted = (await server.call('DELETE', NAMED)).body;
    expect(deleted.metadata).toMatchObject({
      generation: 1,
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    });
    expect(conditions(deleted)).toContain('Terminating=True InstanceDeletionPending');
    const left = (await server.call('GET', BOXES)).body.items ?? [];
    expect(left.map(({ metadata }) => (metadata as { name: string }).name)).toEqual(['held']);
    const refused = await server.call('POST', BOXES, box('late'));
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'boxes.example.test "late" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    const labelled = await server.call('PATCH', NAMED, { metadata: { labels: { a: 'b' } } }, MERGE);
    expect([labelled.status, labelled.body.message]).toEqual([200, undefined]);
    await server.call('PATCH', `${BOXES}/held`, { metadata: { finalizers: null } }, MERGE);
    expect((await server.call('GET', NAMED)).status).toBe(404);
    expect((await server.call('GET', BOXES)).status).toBe(404);
  });

  test('with a conversion webhook is refused with the reason', async () => {
    using server = await startCustomServer();
    const webhook = { clientConfig: { url: 'https://localhost/convert' }, conversionReviewVersions: ['v1'] };
    const response = await server.call(
      'POST',
      DEFINITIONS,
      boxes({}, { conversion: { strategy: 'Webhook', webhook } }),
    );
    expect(response.status).toBe(422);
    expect(response.body.message).toContain('spec.conversion.strategy: Forbidden: the embedded control plane does not');
  });

  test('that already exists is served before the first request', async () => {
    using first = await startCustomServer();
    await first.call('POST', DEFINITIONS, boxes());
    await first.call('POST', BOXES, box('kept'));
    const { storage } = first.server;
    const collections = ['customresourcedefinitions.apiextensions.k8s.io', 'boxes.example.test'];
    const objects = collections.flatMap((name) => [...storage.select(name)].map((stored) => [name, stored] as const));
    const clock = new VirtualClock();
    const registry = new Registry();
    registry.set(...builtInResources());
    const restored = new Storage({ clock, restored: { revision: storage.revision, objects } });
    const fail = (error: unknown): never => {
      throw error;
    };
    using _serving = await serveCustomResources({
      storage: restored,
      registry,
      fields: trackFields(registry),
      clock,
      onError: fail,
    });
    expect(registry.find('example.test', 'v1', 'boxes')?.kind).toBe('Box');
    expect(restored.revision).toBe(storage.revision);
  });
});

describe('a change of a definition', () => {
  const change = (spec: object, version: object = {}): object => ({
    spec: (boxes(spec, {}, version) as { spec: object }).spec,
  });

  test('shows stored objects by the new schema, and by the old one after it is restored', async () => {
    using server = await startCustomServer();
    await server.call('POST', DEFINITIONS, boxes({ a: TEXT, b: TEXT }));
    await server.call('POST', BOXES, box('one', { a: 'x', b: 'y' }));
    const before = (await server.call('GET', `${BOXES}/one`)).body;
    await server.call('PATCH', NAMED, change({ a: TEXT, c: { ...TEXT, default: 'z' } }), MERGE);
    const during = (await server.call('GET', `${BOXES}/one`)).body;
    expect(during.spec).toEqual({ a: 'x', c: 'z' });
    expect(during.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
    await server.call('PATCH', NAMED, change({ a: TEXT, b: TEXT }), MERGE);
    expect((await server.call('GET', `${BOXES}/one`)).body.spec).toEqual({ a: 'x', b: 'y' });
  });

  test('keeps values that were valid before, but refuses changes to invalid values', async () => {
    using server = await startCustomServer();
    await server.call('POST', DEFINITIONS, boxes({ a: TEXT, b: TEXT }));
    await server.call('POST', BOXES, box('one', { a: 'long', b: 'x' }));
    await server.call('PATCH', NAMED, change({ a: { ...TEXT, maxLength: 1 }, b: TEXT }), MERGE);
    expect((await server.call('PATCH', `${BOXES}/one`, { spec: { b: 'y' } }, MERGE)).status).toBe(200);
    expect((await server.call('PATCH', `${BOXES}/one`, { spec: { a: 'other' } }, MERGE)).status).toBe(422);
  });

  test('ends the watches of the changed resources, and no others', async () => {
    using server = await startCustomServer();
    await server.call('POST', DEFINITIONS, boxes());
    const watch = await server.stream(`${BOXES}?watch=true`);
    await server.call('PATCH', NAMED, { metadata: { labels: { a: 'b' } } }, MERGE);
    await server.call('POST', BOXES, box('one'));
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED' });
    await server.call('PATCH', NAMED, change({ a: TEXT }), MERGE);
    expect((await watch.next()).done).toBe(true);
  });

  test('may stop serving a version', async () => {
    using server = await startCustomServer();
    const schema = { openAPIV3Schema: { type: 'object' } };
    const [v1, v2] = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema }));
    await server.call('POST', DEFINITIONS, boxes({}, { versions: [v1, v2] }));
    const moved = [
      { ...v1, served: false, storage: false },
      { ...v2, storage: true },
    ];
    const { body } = await server.call('PATCH', NAMED, { spec: { versions: moved } }, MERGE);
    expect(body.status).toMatchObject({ storedVersions: ['v1', 'v2'] });
    expect((await server.call('GET', BOXES)).status).toBe(404);
    expect((await server.call('GET', BOXES.replace('/v1/', '/v2/'))).status).toBe(200);
    const gone = await server.call('PATCH', NAMED, { spec: { versions: moved.slice(1) } }, MERGE);
    expect(gone.body.message).toContain('v1 was previously a storage version');
  });
});

test('Numbers beyond 2^53 are preserved', async () => {
  using server = await startCustomServer();
  await server.call('POST', DEFINITIONS, boxes({ n: { type: 'integer' } }));
  const text = JSON.stringify(box('one', { n: 0 })).replace('"n":0', '"n":9007199254740993');
  expect((await server.call('POST', BOXES, text)).status).toBe(201);
  const [stored] = server.server.storage.select('boxes.example.test');
  expect(stored?.json).toContain('"n":9007199254740993');
});

test.each([
  [{}, 'map[] is of the type map[string]interface {}'],
  [[1], '[1] is of the type []interface {}'],
  [1.5, '1.5 is of the type float64'],
  ['x', 'x is of the type string'],
])('A scale rejects the replica count %j', async (size, found) => {
  using server = await startCustomServer();
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
  await server.call('POST', DEFINITIONS, boxes({ size: { type: 'integer' } }, {}, { subresources: { scale } }));
  const { status, body } = await server.call('POST', BOXES, box('one', { size }));
  expect(status).toBe(422);
  expect(body.message).toContain(`.spec.size: Invalid value: 0: .spec.size accessor error: ${found}, expected int64`);
});

test('A field named __proto__ is treated as data', async () => {
  using server = await startCustomServer();
  const openAPIV3Schema = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { filled: { type: 'string', default: 'x' } },
  };
  const version = { schema: { openAPIV3Schema }, subresources: { status: {} } };
  await server.call('POST', DEFINITIONS, boxes({}, {}, version));
  const text = JSON.stringify(box('one')).replace('"spec":{}', '"spec":{"__proto__":{"a":1}},"__proto__":{"b":2}');
  expect((await server.call('POST', BOXES, text)).status).toBe(201);
  await server.call('PATCH', `${BOXES}/one/status`, { status: { ok: true } }, MERGE);
  const [stored] = server.server.storage.select('boxes.example.test');
  expect(stored?.json).toContain('{"__proto__":{"b":2},"filled":"x"');
  expect(stored?.json).toContain('"spec":{"__proto__":{"a":1}},"status":{"ok":true}');
});
