import { expect, test } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';
import { KUBECTL_BODIES } from './kubectl-bodies.test-support.ts';
import { PROTOBUF } from './protobuf-decoder.ts';

const HEADERS = { 'content-type': PROTOBUF, accept: `${PROTOBUF},application/json` };
const body = (what: string): Buffer => {
  const [, bytes = ''] = KUBECTL_BODIES.find(([name]) => name === what) ?? [];
  return Buffer.from(bytes, 'base64');
};

test('creates an object that kubectl sends in protobuf and responds in JSON', async () => {
  const { call } = startTestServer();
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'protobuf-probe' } });
  const path = '/api/v1/namespaces/protobuf-probe/secrets';
  const created = await call('POST', `${path}?fieldValidation=Strict`, body('a Secret'), HEADERS);
  expect(created).toMatchObject({ status: 201, headers: { 'content-type': 'application/json' } });
  expect(created.body).toMatchObject({ kind: 'Secret', metadata: { name: 's' }, data: { p: 'MQ==' } });
  // `k8s`, a zero byte, and an envelope around DeleteOptions with dryRun: All.
  const options = Buffer.from('k8s\0\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x05\x2a\x03All', 'latin1');
  expect(await call('DELETE', `${path}/s`, options, HEADERS)).toMatchObject({ status: 200 });
  expect(await call('GET', `${path}/s`)).toMatchObject({ status: 200 });
});

test('reports the expected kind for an invalid body', async () => {
  const { call } = startTestServer();
  const { status, body: refusal } = await call('POST', '/api/v1/namespaces', Buffer.from('k8s\0'), HEADERS);
  expect({ status, message: refusal.message }).toEqual({
    status: 400,
    message: 'the object provided is unrecognized (must be of type Namespace): empty body (6b387300)',
  });
});

test('refuses clients that accept only protobuf', async () => {
  const { call } = startTestServer();
  for (const path of ['/api/v1/pods', '/api/v1/pods?watch=true']) {
    expect(await call('GET', path, undefined, { accept: PROTOBUF })).toMatchObject({ status: 406 });
  }
});

test('refuses protobuf for kinds without a protobuf schema', async () => {
  const { server, call } = startTestServer();
  const secrets = server.registry.find('', 'v1', 'secrets');
  if (!secrets) throw new TypeError('the registry does not contain secrets');
  server.registry.set({ ...secrets, group: 'example.com', resource: 'widgets', kind: 'Widget', schema: undefined });
  const { status, body: refusal } = await call(
    'POST',
    '/apis/example.com/v1/namespaces/default/widgets',
    body('a Secret'),
    HEADERS,
  );
  expect({ status, message: refusal.message }).toEqual({
    status: 415,
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
  });
});
