import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../in-process.test-support.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = { 'content-type': 'application/merge-patch+json' };

async function started(): Promise<TestServer> {
  const t = startTestServer();
  await t.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
  await t.call('POST', MAPS, { metadata: { name: 'a' } });
  return t;
}

describe('paths and methods', () => {
  it.each([
    ['POST', '/api/v1/configmaps'],
    ['POST', `${MAPS}/a`],
    ['PUT', MAPS],
    ['PATCH', MAPS],
    ['DELETE', '/api/v1/configmaps'],
    ['OPTIONS', MAPS],
    ['HEAD', `${MAPS}/a`],
  ])('do not allow %s of %s', async (method, path) => {
    const t = await started();
    expect((await t.call(method, path, { metadata: { name: 'a' } })).status).toBe(405);
  });

  it('watch only the object that is named by the deprecated watch path', async () => {
    const t = await started();
    expect((await t.call('GET', `${MAPS}/a?watch=true`)).body).toMatchObject({ kind: 'ConfigMap' });
    const lines = await t.stream('/api/v1/watch/namespaces/default/configmaps/a');
    expect((await lines.next()).value).toMatchObject({ type: 'ADDED' });
    await lines.return(undefined);
  });
});

describe('an update', () => {
  it.each([
    [{ metadata: {} }, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    [{ metadata: { name: 'b' } }, 'the name of the object (b) does not match the name on the URL (a)'],
  ])('of %j is refused before the object is looked up', async (body, message) => {
    const t = startTestServer();
    expect((await t.call('PUT', `${MAPS}/a`, body)).body).toMatchObject({ code: 400, message });
  });

  it('creates a missing Service but not a missing ConfigMap', async () => {
    const t = await started();
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    expect((await t.call('PUT', '/api/v1/namespaces/default/services/s', service)).status).toBe(201);
    expect((await t.call('PUT', `${MAPS}/s`, { metadata: { name: 's' } })).status).toBe(404);
  });

  it.each([
    ['/api/v1/namespaces/default/services/s', { ports: [{ port: 80 }] }, 200],
    ['/apis/coordination.k8s.io/v1/namespaces/default/leases/s', {}, 422],
  ])('of the missing %s creates it once and updates it in the second of two concurrent requests', async (...test) => {
    const [path, spec, second] = test;
    const t = await started();
    const put = () => t.call('PUT', path, { metadata: { name: 's' }, spec });
    const responses = await Promise.all([put(), put()]);
    expect(responses.map(({ status }) => status).sort()).toEqual([second, 201].sort());
  });
});

describe('a patch', () => {
  it.each([
    [{ metadata: { name: null } }, 400],
    [{ metadata: { namespace: 'other' } }, 400],
    [{ metadata: { uid: 'other' } }, 422],
    [{ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }, 422],
  ])('%j returns %i', async (patch, status) => {
    const t = await started();
    expect((await t.call('PATCH', `${MAPS}/a`, patch, MERGE)).status).toBe(status);
  });
});

describe('options of reads', () => {
  it.each([
    ['?limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['?limit=99999999999999999999', 400, 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    [
      '?continue=e30',
      400,
      'invalid continue token: continue key is not valid: server does not recognize this encoded version ',
    ],
    [
      '?resourceVersion=x',
      400,
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [
      '/a?resourceVersion=x',
      500,
      'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
  ])('%s returns %i', async (path, status, message) => {
    const t = await started();
    const response = await t.call('GET', MAPS + path);
    expect([response.status, response.body.message]).toEqual([status, message]);
  });

  it('are refused for a list with sendInitialEvents', async () => {
    const t = await started();
    expect((await t.call('GET', `${MAPS}?sendInitialEvents=true`)).status).toBe(422);
  });
});
