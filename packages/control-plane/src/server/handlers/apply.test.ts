import { describe, expect, it } from 'vitest';
import type { AdmissionPlugin } from '../admission/admission.ts';
import { startTestServer, type TestResponse, type TestServer } from '../in-process.test-support.ts';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

function apply(
  server: TestServer,
  body: object | string,
  query = 'fieldManager=a',
  name = 'it',
): Promise<TestResponse> {
  const typed = typeof body === 'string' ? body : { apiVersion: 'v1', kind: 'ConfigMap', ...body };
  return server.call('PATCH', `${COLLECTION}/${name}?${query}`, typed, APPLY);
}

const named = (more: object = {}): object => ({ metadata: { name: 'it' }, ...more });

describe('a server-side apply', () => {
  it('creates a missing object and does not write when nothing changes', async () => {
    const server = startTestServer();
    const created = await apply(server, named({ data: { a: '1' } }));
    expect(created.status).toBe(201);
    await server.clock.advance(5_000);
    const again = await apply(server, named({ data: { a: '1' } }));
    expect(again).toMatchObject({ status: 200, body: created.body });
  });

  it('creates the object once and updates it for the second of two concurrent clients', async () => {
    const server = startTestServer();
    const responses = await Promise.all(
      ['a', 'b'].map((who) => apply(server, named({ data: { [who]: '1' } }), `fieldManager=${who}`)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 201]);
    const { body } = await server.call('GET', `${COLLECTION}/it`);
    expect(body.data).toEqual({ a: '1', b: '1' });
    const managers = body.metadata?.managedFields as { manager: string; operation: string }[];
    expect(managers.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual(['a Apply', 'b Apply']);
  });

  it('creates an object that is deleted during the request', async () => {
    let deletions = 1;
    const server = startTestServer({
      admission: [
        {
          name: 'deletes-meanwhile',
          async validate({ operation }) {
            if (operation === 'UPDATE' && deletions-- > 0) await server.call('DELETE', `${COLLECTION}/it`);
          },
        },
      ],
    });
    const before = await apply(server, named({ data: { a: '1' } }));
    const after = await apply(server, named({ data: { a: '2' } }));
    expect(after).toMatchObject({ status: 201, body: { data: { a: '2' } } });
    expect(after.body.metadata?.uid).not.toBe(before.body.metadata?.uid);

    // An apply that identifies the object by uid does not create it.
    deletions = 1;
    const gone = await apply(server, { metadata: { name: 'it', uid: after.body.metadata?.uid }, data: { a: '3' } });
    expect([gone.status, gone.body.message]).toEqual([409, expect.stringContaining('no existing object was found')]);
  });

  it('gives up when the object is repeatedly created and deleted', async () => {
    let count = 0;
    const server = startTestServer({
      admission: [
        {
          name: 'in-the-way',
          async validate({ operation }) {
            if (operation === 'DELETE' || count++ >= 20) return;
            if (operation === 'UPDATE') await server.call('DELETE', `${COLLECTION}/it`);
            else server.server.storage.create('configmaps', 'default/it', { metadata: { name: 'it', uid: 'x' } });
          },
        },
      ],
    });
    const { status, body } = await apply(server, named());
    expect([status, body.reason]).toEqual([409, 'AlreadyExists']);
  });

  it('keeps the last of duplicate keys with a warning, an error or silently', async () => {
    const server = startTestServer();
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\ndata:\n  a: "1"\n  a: "2"\n';
    const warning = 'line 6: key "a" already set in map';
    const refused = await apply(server, text, 'fieldManager=a&fieldValidation=Strict');
    expect([refused.status, refused.body.message]).toEqual([
      400,
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${warning}`,
    ]);
    const warned = await apply(server, text);
    expect(warned).toMatchObject({ status: 201, body: { data: { a: '2' } } });
    expect(warned.headers.warning).toEqual([`299 - ${JSON.stringify(warning)}`]);
    const silent = await apply(server, text, 'fieldManager=a&fieldValidation=Ignore');
    expect([silent.status, silent.headers.warning]).toEqual([200, undefined]);
  });

  it('reads YAML', async () => {
    const server = startTestServer();
    const response = await apply(server, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it\ndata:\n  a: "1"\n');
    expect(response).toMatchObject({ status: 201, body: { data: { a: '1' } } });
  });

  it('removes fields that its manager applied before and no other manager owns', async () => {
    const server = startTestServer();
    await apply(server, named({ data: { a: '1', b: '1', c: '1' } }));
    await apply(server, named({ data: { b: '1' } }), 'fieldManager=b');
    const { body } = await apply(server, named({ data: { c: '2' } }));
    expect(body.data).toEqual({ b: '1', c: '2' });
  });

  it('is refused when another manager owns a changed field, unless it is forced', async () => {
    const server = startTestServer();
    await apply(server, named({ data: { a: '1' } }));
    const refused = await apply(server, named({ data: { a: '2' } }), 'fieldManager=b');
    expect(refused).toMatchObject({
      status: 409,
      body: {
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "a": .data.a',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.data.a' }] },
      },
    });
    const forced = await apply(server, named({ data: { a: '2' } }), 'fieldManager=b&force=true');
    expect(forced).toMatchObject({ status: 200, body: { data: { a: '2' } } });
  });

  it.each([
    ['no name', {}, 400, 'the name of the object (it based on URL) was undeterminable: name must be provided'],
    [
      'another name',
      { metadata: { name: 'other' } },
      400,
      'the name of the object (other) does not match the name on the URL (it)',
    ],
    [
      'another namespace',
      { metadata: { name: 'it', namespace: 'other' } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['another kind', { ...named(), kind: 'Secret' }, 400, 'invalid object type: /v1, Kind=Secret'],
    ['another version', { ...named(), apiVersion: 'apps/v1' }, 400, 'invalid object type: apps/v1, Kind=ConfigMap'],
    ['managedFields', { metadata: { name: 'it', managedFields: [] } }, 400, 'metadata.managedFields must be nil'],
    [
      'an unknown field',
      named({ bogus: 1 }),
      500,
      'failed to create typed patch object (/it; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
    ],
    [
      'the uid of a missing object',
      { metadata: { name: 'it', uid: 'x' } },
      409,
      'Operation cannot be fulfilled on configmaps "it": uid mismatch: the provided object specified uid x, and no existing object was found',
    ],
  ])('is refused with %s', async (_what, body, status, message) => {
    const response = await apply(startTestServer(), body);
    expect(response).toMatchObject({ status, body: { message } });
  });

  it.each([
    ['[]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['1', 'json: cannot unmarshal number into Go value of type map[string]interface {}'],
    ['{', 'error decoding YAML'],
    ['', 'invalid object type: /, Kind='],
    [`a: ${'[ '.repeat(1_500)}${']'.repeat(1_500)}`, 'exceeded max depth of 1000'],
  ])('is refused when its body is %.20j', async (body, message) => {
    const response = await apply(startTestServer(), body);
    expect(response).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) as unknown } });
  });

  it('is refused for a duplicate field in strict validation', async () => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it"},"data":{"a":"1","a":"2"}}';
    const strict = await apply(startTestServer(), text, 'fieldManager=a&fieldValidation=Strict');
    expect(strict).toMatchObject({ status: 400, body: { message: expect.stringContaining('key "a"') as unknown } });
    expect(await apply(startTestServer(), text)).toMatchObject({ status: 201, body: { data: { a: '2' } } });
  });

  it('by kubectl removes the last-applied annotation when it is too large', async () => {
    const server = startTestServer();
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    await server.call('POST', COLLECTION, { metadata: { name: 'it', annotations: { [annotation]: '{}', b: 'c' } } });
    const small = await apply(server, named({ data: { a: '1' } }), 'fieldManager=kubectl');
    expect(small.body.metadata?.annotations).toEqual({
      [annotation]: '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"it"}}\n',
      b: 'c',
    });
    const large = await apply(server, named({ data: { a: 'x'.repeat(300_000) } }), 'fieldManager=kubectl');
    expect(large.body.metadata?.annotations).toEqual({ b: 'c' });
  });

  it('cannot change the uid of an object', async () => {
    const server = startTestServer();
    await apply(server, named());
    expect(await apply(server, { metadata: { name: 'it', uid: 'x' } })).toMatchObject({
      status: 422,
      body: { message: 'ConfigMap "it" is invalid: metadata.uid: Invalid value: "x": field is immutable' },
    });
  });

  it('treats field names that are special to JavaScript as data', async () => {
    const server = startTestServer();
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it"},"data":{"constructor":"1"}}';
    await apply(server, text);
    const { body } = await apply(server, text.replace('constructor', '__proto__'), 'fieldManager=b');
    expect(Object.entries(body.data as object)).toEqual([
      ['__proto__', '1'],
      ['constructor', '1'],
    ]);
  });
});

describe('other writes', () => {
  it('remove empty objects and own no fields of them', async () => {
    const server = startTestServer();
    const body = { metadata: { name: 'it', labels: {}, finalizers: [] }, data: {}, binaryData: {} };
    const { body: created } = await server.call('POST', COLLECTION, body);
    expect(created).not.toHaveProperty('data');
    expect(created.metadata).not.toHaveProperty('labels');
    expect(created.metadata).not.toHaveProperty('managedFields');
  });

  it('assign no owner to fields that admission adds', async () => {
    const mutate: AdmissionPlugin['mutate'] = ({ object }) => {
      if (object) object.data = { ...(object.data as object), added: '1' };
    };
    const server = startTestServer({ admission: [{ name: 'adds', mutate }] });
    const created = await server.call('POST', COLLECTION, named({ data: { a: '1' } }));
    const updated = await server.call('PUT', `${COLLECTION}/it`, named({ data: { a: '2' } }));
    const applied = await apply(server, named({ data: { b: '1' } }));
    const owned = [created, updated, applied].map(({ body }) => JSON.stringify(body.metadata?.managedFields));
    expect(applied.body.data).toEqual({ a: '2', added: '1', b: '1' });
    for (const each of owned) expect(each).not.toContain('added');
  });

  it('keep the timestamps when nothing else changes', async () => {
    const server = startTestServer();
    const created = await server.call('POST', COLLECTION, named({ data: { a: '1' } }));
    await server.clock.advance(5_000);
    const again = await server.call('PUT', `${COLLECTION}/it`, created.body);
    expect(again.body).toEqual(created.body);
  });

  it('are refused with invalid manager names', async () => {
    const server = startTestServer();
    await server.call('POST', COLLECTION, named({ data: { a: '1' } }));
    const entry = {
      manager: 'x'.repeat(129),
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    };
    const responses = [
      entry,
      { ...entry, manager: 'a\u0007' },
      { ...entry, manager: 'a', subresource: 'x'.repeat(257) },
    ].map((each) =>
      server.call(
        'PATCH',
        `${COLLECTION}/it`,
        { metadata: { managedFields: [each] } },
        { 'content-type': 'application/merge-patch+json' },
      ),
    );
    const messages = (await Promise.all(responses)).map(({ body }) => body.message?.split('managedFields[0].')[1]);
    expect(messages).toEqual([
      'manager: Too long: may not be more than 128 bytes',
      'manager: Invalid value: "a\\a": invalid character U+0007 (at position 1)',
      'subresource: Too long: may not be more than 256 bytes',
    ]);
  });

  it('of the status keep the spec but change the metadata', async () => {
    const server = startTestServer();
    const path = '/api/v1/namespaces/default/services';
    const type = { 'content-type': 'application/merge-patch+json' };
    await server.call('POST', path, {
      metadata: { name: 'it' },
      spec: { type: 'ExternalName', externalName: 'a.test' },
    });
    const patch = { metadata: { labels: { a: 'b' } }, spec: { externalName: 'b.test' }, status: { conditions: [] } };
    const { body } = await server.call('PATCH', `${path}/it/status`, patch, type);
    expect(body).toMatchObject({ metadata: { labels: { a: 'b' } }, spec: { externalName: 'a.test' } });
  });
});
