import { describe, expect, it } from 'vitest';
import { readYaml } from './bodies/read-yaml.ts';
import { startTestServer, type TestResponse, type TestServer } from './in-process.test-support.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = { 'content-type': 'application/merge-patch+json' };

async function create(t: TestServer, name: string, more: object = {}): Promise<TestResponse> {
  return t.call('POST', MAPS, { metadata: { name, ...(more as { metadata?: object }).metadata }, data: { x: '1' } });
}

describe('objects', () => {
  it('are created with identity, times and a version, and read back', async () => {
    const t = startTestServer();
    const { status, body } = await create(t, 'a');
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { x: '1' } });
    expect(body.metadata).toMatchObject({ name: 'a', namespace: 'default', resourceVersion: '2' });
    expect(body.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect((await t.call('GET', `${MAPS}/a`)).body).toEqual(body);
  });

  it('get a generated name with generateName', async () => {
    const t = startTestServer();
    const { body } = await t.call('POST', MAPS, { metadata: { generateName: 'a-' } });
    expect(body.metadata?.name).toMatch(/^a-[b-z2-9]{5}$/);
  });

  it.each([
    [
      'a second object of the same name',
      'POST',
      MAPS,
      { metadata: { name: 'a' } },
      409,
      'configmaps "a" already exists',
    ],
    ['a missing object', 'GET', `${MAPS}/none`, undefined, 404, 'configmaps "none" not found'],
    [
      'a wrong version',
      'PUT',
      `${MAPS}/a`,
      { metadata: { name: 'a', resourceVersion: '1' } },
      409,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      'a wrong name',
      'PUT',
      `${MAPS}/a`,
      { metadata: { name: 'b' } },
      400,
      'the name of the object (b) does not match the name on the URL (a)',
    ],
    [
      'a wrong namespace',
      'POST',
      MAPS,
      { metadata: { name: 'b', namespace: 'other' } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['a wrong kind', 'POST', MAPS, { kind: 'Pod', metadata: { name: 'b' } }, 400, 'cannot be handled as a ConfigMap'],
    [
      'a wrong type',
      'POST',
      MAPS,
      { metadata: { name: 'b' }, data: { x: 1 } },
      400,
      'cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'a bad label',
      'POST',
      MAPS,
      { metadata: { name: 'b', labels: { 'a b': 'c' } } },
      422,
      'metadata.labels: Invalid value: "a b"',
    ],
    ['invalid JSON', 'POST', MAPS, '{', 400, 'json parse error: unexpected end of JSON input'],
    [
      'a resource that is not served',
      'GET',
      '/api/v1/nothings',
      undefined,
      404,
      'the server could not find the requested resource',
    ],
    ['an unknown path', 'GET', '/nothing', undefined, 404, '404 page not found'],
    [
      'a verb that the resource lacks',
      'GET',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      undefined,
      405,
      'does not allow this method',
    ],
  ])('refuse %s', async (_name, method, url, body, status, message) => {
    const t = startTestServer();
    await create(t, 'a');
    const response = await t.call(method, url, body);
    expect([response.status, response.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it('drop unknown fields with a warning, an error or silently, as fieldValidation demands', async () => {
    const t = startTestServer();
    const body = { metadata: { name: 'a' }, bogus: { x: 1 } };
    const warned = await t.call('POST', MAPS, body);
    expect([warned.status, warned.headers.warning]).toEqual([201, ['299 - "unknown field \\"bogus\\""']]);
    expect(warned.body.bogus).toBeUndefined();
    const refused = await t.call('POST', `${MAPS}?fieldValidation=Strict`, body);
    const why = 'strict decoding error: unknown field "bogus"';
    const message = `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${why}`;
    expect([refused.status, refused.body.message]).toEqual([400, message]);
    const silent = await t.call('PUT', `${MAPS}/a?fieldValidation=Ignore`, body);
    expect([silent.status, silent.headers.warning]).toEqual([200, undefined]);
  });

  it('keep their resourceVersion in a write without changes and in a dry run', async () => {
    const t = startTestServer();
    const { body } = await create(t, 'a');
    expect((await t.call('PUT', `${MAPS}/a`, body)).body.metadata?.resourceVersion).toBe('2');
    const dry = await t.call('PATCH', `${MAPS}/a?dryRun=All`, { data: { x: '2' } }, MERGE);
    expect(dry.body.data).toEqual({ x: '2' });
    expect((await t.call('GET', `${MAPS}/a`)).body).toEqual(body);
  });

  it('are patched by merge and JSON patches', async () => {
    const t = startTestServer();
    await create(t, 'a');
    await t.call('PATCH', `${MAPS}/a`, { data: { x: null, y: '2' } }, MERGE);
    const patch = [{ op: 'add', path: '/data/z', value: '3' }];
    const { body } = await t.call('PATCH', `${MAPS}/a`, patch, { 'content-type': 'application/json-patch+json' });
    expect(body.data).toEqual({ y: '2', z: '3' });
    const refused = await t.call('PATCH', `${MAPS}/a`, {}, { 'content-type': 'text/plain' });
    expect(refused.status).toBe(415);
  });

  it('stay while they have finalizers, accept no new ones, and are removed with the last one', async () => {
    const t = startTestServer();
    await create(t, 'a', { metadata: { finalizers: ['example.com/hold'] } });
    const held = await t.call('DELETE', `${MAPS}/a`);
    expect(held.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] });
    const added = await t.call(
      'PATCH',
      `${MAPS}/a`,
      { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
      MERGE,
    );
    expect([added.status, added.body.message]).toEqual([
      422,
      expect.stringContaining('no new finalizers can be added'),
    ]);
    expect((await t.call('PATCH', `${MAPS}/a`, { metadata: { finalizers: null } }, MERGE)).status).toBe(200);
    expect((await t.call('GET', `${MAPS}/a`)).status).toBe(404);
  });

  it('are deleted only if the preconditions match', async () => {
    const t = startTestServer();
    await create(t, 'a');
    const other = await t.call('DELETE', `${MAPS}/a`, { preconditions: { uid: 'other' } });
    expect([other.status, other.body.message]).toEqual([
      409,
      expect.stringContaining('the UID in the precondition (other) does not match the UID in record'),
    ]);
    expect((await t.call('DELETE', `${MAPS}/a`, { preconditions: { resourceVersion: '2' } })).body).toMatchObject({
      status: 'Success',
    });
  });
});

describe('lists', () => {
  it('are returned in chunks of one consistent state', async () => {
    const t = startTestServer();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(t, name);
    const first = await t.call('GET', `${MAPS}?limit=2`);
    expect(first.body.metadata).toMatchObject({ resourceVersion: '6', remainingItemCount: 3 });
    await t.call('DELETE', `${MAPS}/d`);
    const token = encodeURIComponent(String(first.body.metadata?.continue));
    const second = await t.call('GET', `${MAPS}?limit=10&continue=${token}`);
    expect(second.body.items?.map((item) => (item.metadata as { name: string }).name)).toEqual(['c', 'd', 'e']);
    expect(second.body.metadata?.resourceVersion).toBe('6');
  });

  it('select by labels and fields', async () => {
    const t = startTestServer();
    await create(t, 'a', { metadata: { labels: { app: 'x' } } });
    await create(t, 'b', { metadata: { labels: { app: 'y' } } });
    const names = async (query: string) =>
      (await t.call('GET', `${MAPS}?${query}`)).body.items?.map((item) => (item.metadata as { name: string }).name);
    expect(await names('labelSelector=app%20in%20(x)')).toEqual(['a']);
    expect(await names('fieldSelector=metadata.name%3Db')).toEqual(['b']);
    const bad = await t.call('GET', `${MAPS}?fieldSelector=data.x%3D1`);
    const only = 'is not a known field selector: only "metadata.name", "metadata.namespace"';
    expect([bad.status, bad.body.message]).toEqual([400, `"data.x" ${only}`]);
    const refused: readonly (readonly [string, string])[] = [
      ['/api/v1/pods?fieldSelector=a.b%3D1', 'field label not supported: a.b'],
      ['/api/v1/nodes?fieldSelector=metadata.namespace%3Dx', 'field label not supported: metadata.namespace'],
      ['/apis/batch/v1/jobs?fieldSelector=a.b%3D1', 'field label "a.b" not supported for Job'],
      ['/apis/apps/v1/replicasets?fieldSelector=status.replicas%3D1', `"status.replicas" ${only}`],
    ];
    for (const [path, message] of refused) expect((await t.call('GET', path)).body.message).toBe(message);
  });

  it('refuse a resourceVersion that does not exist yet, after a wait', async () => {
    const t = startTestServer();
    const pending = t.call('GET', `${MAPS}?resourceVersion=99`);
    await t.clock.advance(3_000);
    const { status, body, headers } = await pending;
    expect([status, body.message, headers['retry-after']]).toEqual([
      504,
      'Timeout: Too large resource version: 99, current: 1',
      '1',
    ]);
  });
});

describe('watches', () => {
  it('send the existing objects, then the changes', async () => {
    const t = startTestServer();
    await create(t, 'a');
    const events = await t.stream(`${MAPS}?watch=true`);
    expect(await next(events)).toEqual(['ADDED', 'a', '2']);
    await create(t, 'b');
    await t.call('PATCH', `${MAPS}/b`, { data: { x: '2' } }, MERGE);
    await t.call('DELETE', `${MAPS}/b`);
    expect([await next(events), await next(events), await next(events)]).toEqual([
      ['ADDED', 'b', '3'],
      ['MODIFIED', 'b', '4'],
      ['DELETED', 'b', '5'],
    ]);
  });

  it('continue from a resourceVersion, and fail if it is too old', async () => {
    const t = startTestServer();
    for (const name of ['a', 'b', 'c']) await create(t, name);
    const events = await t.stream(`${MAPS}?watch=true&resourceVersion=3`);
    expect(await next(events)).toEqual(['ADDED', 'c', '4']);
    t.server.storage.compactHistory();
    const late = await t.stream(`${MAPS}?watch=true&resourceVersion=3`);
    expect((await late.next()).value).toMatchObject({
      type: 'ERROR',
      object: { code: 410, reason: 'Expired', message: 'too old resource version: 3 (5)' },
    });
    expect((await late.next()).done).toBe(true);
  });

  it('report an object that enters or leaves their selection as added or deleted', async () => {
    const t = startTestServer();
    await create(t, 'a');
    const events = await t.stream(`${MAPS}?watch=true&labelSelector=app%3Dx&resourceVersion=2`);
    await t.call('PATCH', `${MAPS}/a`, { metadata: { labels: { app: 'x' } } }, MERGE);
    await t.call('PATCH', `${MAPS}/a`, { metadata: { labels: { app: 'y' } } }, MERGE);
    expect([await next(events), await next(events)]).toEqual([
      ['ADDED', 'a', '3'],
      ['DELETED', 'a', '4'],
    ]);
  });

  it('mark the end of the initial events and send a bookmark every minute', async () => {
    const t = startTestServer();
    await create(t, 'a');
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await t.stream(`${MAPS}?${query}`);
    expect(await next(events)).toEqual(['ADDED', 'a', '2']);
    expect((await events.next()).value).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await t.clock.advance(60_000);
    expect(await next(events)).toEqual(['BOOKMARK', undefined, '2']);
  });

  it('end at their timeout and when the client disconnects', async () => {
    const t = startTestServer();
    const limited = await t.stream(`${MAPS}?watch=true&timeoutSeconds=5`);
    await t.clock.advance(5_000);
    expect((await limited.next()).done).toBe(true);
    const client = new AbortController();
    const events = await t.stream(`${MAPS}?watch=true`, client.signal);
    client.abort();
    expect((await events.next()).done).toBe(true);
  });
});

async function next(events: AsyncGenerator<Record<string, unknown>>): Promise<unknown[]> {
  const { value } = (await events.next()) as {
    value: { type: string; object: { metadata: { name?: string; resourceVersion: string } } };
  };
  return [value.type, value.object.metadata.name, value.object.metadata.resourceVersion];
}

describe('responses in YAML', () => {
  const YAML = { accept: 'application/yaml' };

  it('are available for objects, lists and errors, with the same content', async () => {
    const t = startTestServer();
    const annotations = { n: '0777', word: 'yes', lines: 'a\nb\n' };
    const made = await t.call('POST', MAPS, { metadata: { name: 'a', annotations } }, YAML);
    expect([made.status, made.headers['content-type']]).toEqual([201, 'application/yaml']);
    for (const path of [`${MAPS}/a`, MAPS, `${MAPS}/none`]) {
      const { status, headers, body } = await t.call('GET', path, undefined, YAML);
      const json = await t.call('GET', path);
      expect([status, headers['content-type']]).toEqual([json.status, 'application/yaml']);
      expect(readYaml(body.message ?? '').value).toEqual(json.body);
    }
  });

  it('are not used for watches or for clients that prefer JSON', async () => {
    const t = startTestServer();
    const refused = await t.call('GET', `${MAPS}?watch=true`, undefined, YAML);
    expect(refused.status).toBe(406);
    expect(refused.body.message).toContain('application/json;stream=watch');
    const json = await t.call('GET', MAPS, undefined, { accept: 'application/yaml;q=0.5, application/json' });
    expect(json.headers['content-type']).toBe('application/json');
  });
});
