import { ConfigMap, type KubernetesObject, Namespace, type Resource, Secret } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import type { CachedObject } from './write-client.ts';
import { WriteMemo } from './write-memo.ts';
import { createWriter, type WriterOptions } from './writer.ts';

const labels = { mine: 'yes' };
const key = { namespace: 'default', name: 'a' };
const desired: ConfigMap = { metadata: key, data: { a: '1' } };

const answer: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    ...key,
    uid: 'u',
    resourceVersion: '7',
    labels,
    managedFields: [
      {
        manager: 'm',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:mine': {} } } },
      },
    ],
  },
  data: { a: '1' },
};

/** stored returns the object after a write that changed its data. */
const stored = (data: ConfigMap['data']): ConfigMap => ({
  ...answer,
  metadata: { ...answer.metadata, resourceVersion: '8' },
  data,
});

const conflict: ScriptedResponse = { status: 409, body: { kind: 'Status', reason: 'Conflict', code: 409 } };
const absent: ScriptedResponse = {
  status: 404,
  body: { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'a' } },
};

function setUp(answers: readonly ScriptedResponse[], options: Partial<WriterOptions> = {}) {
  const transport = new ScriptedTransport(...answers);
  const client = createClient({ transport });
  const writer = createWriter({ client, fieldManager: 'm', ownership: { labels }, ...options });
  return { transport, writer, methods: () => transport.requests.map(({ method }) => method).join(' ') };
}

const cached = (object: KubernetesObject | undefined, isComplete = true): Partial<WriterOptions> => ({
  lookup: (): CachedObject => ({ object, isComplete }),
});

describe('checks before anything is sent', () => {
  const owner = { resource: ConfigMap, object: { metadata: { ...key, name: 'owner', uid: 'o' } } };
  it.each<[what: string, resource: Resource<KubernetesObject>, object: object, message: string]>([
    ['a missing name', ConfigMap, { metadata: { namespace: 'default' } }, 'metadata.name is missing'],
    [
      'a generated name',
      ConfigMap,
      { metadata: { namespace: 'default', generateName: 'a-' } },
      'metadata.name is missing',
    ],
    ['a missing namespace', ConfigMap, { metadata: { name: 'a' } }, 'metadata.namespace is missing'],
    ['a namespace of a cluster-scoped object', Namespace, { metadata: key }, 'omit metadata.namespace'],
    ['a status', ConfigMap, { metadata: key, status: {} }, 'omit status'],
    ['metadata that only the server sets', ConfigMap, answer, 'omit metadata.managedFields'],
    ['write-only fields', Secret, { metadata: key, stringData: {} }, 'write data instead of stringData'],
  ])('reject %s', async (_, resource, object, message) => {
    const { writer } = setUp([]);
    await expect(writer.apply(resource, object)).rejects.toMatchObject({
      code: 'BOWLINE_WRITE_INVALID',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('reject an object without an owner or labels', async () => {
    const { writer } = setUp([], { ownership: undefined });
    for (const write of [
      writer.apply(ConfigMap, desired),
      writer.createOnce(ConfigMap, key, () => desired),
      writer.remove(ConfigMap, key),
    ]) {
      await expect(write).rejects.toMatchObject({ code: 'BOWLINE_WRITE_INVALID' });
    }
  });

  it('reject an owner in another namespace, unless there are labels', async () => {
    const elsewhere: ConfigMap = { metadata: { namespace: 'other', name: 'a' } };
    const { writer } = setUp([], { ownership: { owner } });
    await expect(writer.apply(ConfigMap, elsewhere)).rejects.toMatchObject({ code: 'BOWLINE_OWNER_SCOPE' });
    const { writer: labelled, transport } = setUp([absent, { body: answer }], { ownership: { owner, labels } });
    expect((await labelled.apply(ConfigMap, elsewhere)).outcome).toBe('created');
    expect(transport.sent(1)).toMatchObject({ metadata: { labels } });
    expect(transport.sent(1)).not.toHaveProperty('metadata.ownerReferences');
  });
});

describe('apply', () => {
  it('writes no owner reference when the owner is null, and then requires labels', async () => {
    const owner = { resource: ConfigMap, object: { metadata: { ...key, name: 'owner', uid: 'o' } } };
    const created = [{ status: 201, body: answer }];
    const { writer, transport } = setUp(created, { ownership: { owner }, ...cached(undefined) });
    const unmarked = writer.apply(ConfigMap, desired, { owner: null });
    await expect(unmarked).rejects.toMatchObject({ code: 'BOWLINE_WRITE_INVALID' });
    await writer.apply(ConfigMap, desired, { owner: null, labels });
    expect(transport.sent(0)).toMatchObject({ metadata: { labels } });
    expect(transport.sent(0)).not.toHaveProperty('metadata.ownerReferences');
  });

  it('creates with a resourceVersion that no object has, so that it cannot overwrite one', async () => {
    const { writer, transport } = setUp([{ status: 201, body: answer }], cached(undefined));
    expect((await writer.apply(ConfigMap, desired)).outcome).toBe('created');
    expect(transport.requests[0]?.path).toContain('fieldManager=m');
    expect(transport.requests[0]?.path).toContain('force=true');
    expect(transport.sent(0)).toMatchObject({ metadata: { resourceVersion: '1', labels }, data: { a: '1' } });
  });

  it('falls back to a plain create on a server that rejects this although no object exists', async () => {
    const refused = [absent, conflict, absent, conflict, absent];
    const { writer, transport, methods } = setUp([...refused, { status: 201, body: answer }]);
    expect((await writer.apply(ConfigMap, desired)).outcome).toBe('created');
    expect(methods()).toBe('GET PATCH GET PATCH GET POST');
    expect(transport.sent(5)).not.toHaveProperty('metadata.resourceVersion');
  });

  it('sends the uid and resourceVersion of the object that it checked', async () => {
    const changed = { ...desired, data: { a: '2' } };
    const { writer, transport } = setUp([{ body: stored(changed.data) }], cached(answer));
    expect((await writer.apply(ConfigMap, changed)).outcome).toBe('configured');
    expect(transport.sent(0)).toMatchObject({ metadata: { uid: 'u', resourceVersion: '7' } });
  });

  it('sends nothing when the cache shows that nothing would change', async () => {
    const { writer, methods } = setUp([], cached(answer));
    expect(await writer.apply(ConfigMap, desired)).toEqual({ outcome: 'unchanged', object: answer });
    expect(methods()).toBe('');
  });

  it('reads from the server before it rejects an object that is foreign in the cache', async () => {
    const { writer, methods } = setUp([{ body: answer }], cached({ metadata: { ...key, uid: 'u' } }));
    expect((await writer.apply(ConfigMap, desired)).outcome).toBe('unchanged');
    expect(methods()).toBe('GET');
  });

  it('after a conflict requires only the uid, not the resourceVersion', async () => {
    const another: ScriptedResponse = {
      status: 422,
      body: { kind: 'Status', reason: 'Invalid', details: { name: 'a', causes: [{ field: 'metadata.uid' }] } },
    };
    const changed = { ...desired, data: { a: '2' } };
    const answers = [{ body: answer }, conflict, { body: answer }, another, absent, { status: 201, body: answer }];
    const { writer, transport } = setUp(answers);
    expect((await writer.apply(ConfigMap, changed)).outcome).toBe('created');
    expect(transport.sent(1)).toMatchObject({ metadata: { uid: 'u', resourceVersion: '7' } });
    expect(transport.sent(3)).toMatchObject({ metadata: { uid: 'u' } });
    expect(transport.sent(3)).not.toHaveProperty('metadata.resourceVersion');
  });

  it('throws the conflict after a few attempts', async () => {
    const tries = Array.from({ length: 5 }, () => [{ body: answer }, conflict]).flat();
    const { writer, transport } = setUp(tries);
    await expect(writer.apply(ConfigMap, { ...desired, data: {} })).rejects.toMatchObject({
      code: 'BOWLINE_API_CONFLICT',
    });
    expect(transport.requests.length).toBe(8);
  });

  it('remembers what the server makes of a desired object, for this desired object only', async () => {
    const completed: ConfigMap = { ...answer, data: { a: 'as the webhook wants it' } };
    const changed = { ...desired, data: { a: '2' } };
    const { writer, methods } = setUp([{ body: completed }, { body: stored(changed.data) }], cached(completed));
    expect((await writer.apply(ConfigMap, desired)).outcome).toBe('unchanged');
    expect((await writer.apply(ConfigMap, desired)).outcome).toBe('unchanged');
    expect(methods()).toBe('PATCH');
    expect((await writer.apply(ConfigMap, changed)).outcome).toBe('configured');
  });

  it('does not treat a changed object as settled', async () => {
    const writeMemo = new WriteMemo();
    const partial = { metadata: { ...answer.metadata, managedFields: undefined } } as KubernetesObject;
    const { writer, methods } = setUp([{ body: answer }, { body: answer }], {
      writeMemo,
      ...cached(partial, false),
    });
    await writer.apply(ConfigMap, desired);
    await writer.apply(ConfigMap, desired);
    expect(methods()).toBe('GET');
    const moved = { metadata: { ...partial.metadata, resourceVersion: '8' } } as KubernetesObject;
    const later = setUp([{ body: answer }], { writeMemo, ...cached(moved, false) });
    await later.writer.apply(ConfigMap, desired);
    expect(later.methods()).toBe('GET');
  });
});

describe('createOnce', () => {
  it('keeps the object of a previous owner of the same name, and makes the new one its owner', async () => {
    const object = { metadata: { ...key, name: 'owner', uid: 'new' } };
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'old', controller: true };
    const left = { ...answer, metadata: { ...answer.metadata, ownerReferences: [reference] } };
    const { writer, transport, methods } = setUp([{ body: left }, { body: object }, { body: answer }], {
      ownership: { owner: { resource: ConfigMap, object } },
      ...cached(left, false),
    });
    const make = () => Promise.reject(new Error('not needed'));
    expect(await writer.createOnce(ConfigMap, key, make)).toMatchObject({ outcome: 'unchanged' });
    expect(methods()).toBe('GET GET PATCH');
    const { metadata, ...others } = transport.sent(2) as KubernetesObject;
    expect(others).toEqual({});
    expect(metadata).toMatchObject({ uid: 'u', resourceVersion: '7', ownerReferences: [{ uid: 'new' }] });
  });
});

describe('remove', () => {
  it('sends the uid and resourceVersion of the object in the cache', async () => {
    const { writer, transport, methods } = setUp([{ body: { kind: 'Status', apiVersion: 'v1' } }], cached(answer));
    expect(await writer.remove(ConfigMap, key)).toEqual({ outcome: 'deleted' });
    expect(methods()).toBe('DELETE');
    expect(transport.sent(0)).toMatchObject({ preconditions: { uid: 'u', resourceVersion: '7' } });
  });

  it('reads from the server when the object is foreign in the cache, or the cache keeps too little of it', async () => {
    const gone = { body: { kind: 'Status', apiVersion: 'v1' } };
    const known = { metadata: { ...key, uid: 'u', resourceVersion: '7' } };
    const { writer, methods } = setUp([{ body: answer }, gone], cached(known, false));
    expect(await writer.remove(ConfigMap, key)).toEqual({ outcome: 'deleted' });
    expect(methods()).toBe('GET DELETE');
  });

  it('reads from the server when the cache does not have the object with the given uid', async () => {
    const gone = { body: { kind: 'Status', apiVersion: 'v1' } };
    for (const before of [undefined, { metadata: { ...answer.metadata, uid: 'before' } } as KubernetesObject]) {
      const { writer, methods } = setUp([{ body: answer }, gone], cached(before));
      expect(await writer.remove(ConfigMap, key, { uid: 'u' })).toEqual({ outcome: 'deleted' });
      expect(methods()).toBe('GET DELETE');
    }
    const { writer, methods } = setUp([], cached(undefined));
    expect(await writer.remove(ConfigMap, key)).toEqual({ outcome: 'absent' });
    expect(methods()).toBe('');
  });

  it('reads from the server when no cache keeps all objects', async () => {
    const { writer, methods } = setUp([absent], { lookup: () => undefined });
    expect(await writer.remove(ConfigMap, key)).toEqual({ outcome: 'absent' });
    expect(methods()).toBe('GET');
  });
});

describe('SettledWrites', () => {
  it('evicts the least recently used entry', () => {
    const settled = new WriteMemo({ limit: 2 });
    const object = (uid: string) => ({ metadata: { uid, resourceVersion: '1' } });
    for (const uid of ['a', 'b']) settled.remember(object(uid), desired, undefined);
    expect(settled.isUnchanged(object('a').metadata, desired)).toBe(true);
    settled.remember(object('c'), desired, undefined);
    expect(settled.isUnchanged(object('b').metadata, desired)).toBe(false);
    expect(settled.isUnchanged(object('a').metadata, desired)).toBe(true);
    expect(settled.isUnchanged(object('a').metadata, { other: 1 })).toBe(false);
  });
});
