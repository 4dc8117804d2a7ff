import { ConfigMap, Secret } from '@bowline/kubernetes';
import { createLog } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ALL, type ApiCluster, apiCluster, inBase64, PIN_SECRET } from '../http-api/api-cluster.test-support.ts';
import { API_CONFIG_MAP } from '../http-api/api-location.ts';
import { DEVICE } from '../testing/secrets-cluster.test-support.ts';

const CANARY = 'canary-Zq7-correct-horse-battery';
const NEW_PIN = '91827364550';

const lines: string[] = [];
const replies: string[] = [];
let c: ApiCluster;
let token: string;

beforeAll(async () => {
  c = await apiCluster({ log: createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } }) });
  const pinAccess = { apiGroups: [''], resources: ['secrets'], verbs: ['update'], resourceNames: [PIN_SECRET] };
  token = await c.tokenOf(await c.account(ALL, [pinAccess]));
  await c.admin.create(Secret, {
    metadata: { namespace: c.namespace, name: PIN_SECRET },
    data: inBase64({ pin: '648219' }),
  });
}, 60_000);

afterAll(async () => {
  await c[Symbol.asyncDispose]();
});

async function call(method: string, path: string, body?: unknown, bearer: string | undefined = token) {
  const reply = await c.send(method, path, { token: bearer, body });
  replies.push(reply.text);
  return reply;
}

it('scenario 37: creates, reads, lists, replaces and deletes a secret on all devices', async () => {
  const created = await call('POST', 'hsm/secrets/team/db', {
    data: inBase64({ password: 'old', user: 'ann' }),
    metadata: { description: 'the database', labels: { team: 'a' } },
  });
  expect(created).toMatchObject({ status: 201, json: { success: true, data: { path: 'team/db', version: 1 } } });
  expect(created.json.data.devices).toEqual([
    { serialNumber: 'S1', ok: true },
    { serialNumber: 'S2', ok: true },
  ]);
  expect((await call('POST', 'hsm/secrets/team/db', { data: inBase64({ a: 'b' }) })).status).toBe(409);

  const read = await call('GET', 'hsm/secrets/team/db');
  expect(read).toMatchObject({
    status: 200,
    json: { data: { version: 1, metadata: { description: 'the database' } } },
  });
  expect(read.json.data.data).toEqual(inBase64({ password: 'old', user: 'ann' }));
  expect((await call('GET', 'hsm/secrets/team/db/metadata')).json.data.keys).toEqual(['password', 'user']);
  const { checksum, devices } = (await call('GET', 'hsm/secrets/team/db/checksum')).json.data;
  expect(devices.map((device: { checksum: string }) => device.checksum)).toEqual([checksum, checksum]);

  const put = await call('PUT', 'hsm/secrets/team/db', {
    data: inBase64({ password: 'new', user: 'ann' }),
    replaces: 1,
  });
  expect(put).toMatchObject({ status: 200, json: { data: { version: 2 } } });
  expect(await call('PUT', 'hsm/secrets/team/db', { data: inBase64({ a: 'b' }), replaces: 1 })).toMatchObject({
    status: 409,
    json: { error: { code: 'hsm_write_error' } },
  });
  const listed = await call('GET', 'hsm/secrets?prefix=team');
  expect(listed.json.data.secrets).toMatchObject([{ path: 'team/db', version: 2, keys: ['password', 'user'] }]);
  expect((await call('GET', 'hsm/secrets?prefix=te')).json.data.secrets).toEqual([]);

  expect((await call('DELETE', 'hsm/secrets/team/db?key=user')).json.data.version).toBe(3);
  expect((await call('GET', 'hsm/secrets/team/db')).json.data.data).toEqual(inBase64({ password: 'new' }));
  expect((await call('DELETE', 'hsm/secrets/team/db')).status).toBe(200);
  for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { data: inBase64({ a: 'b' }) }]] as const) {
    expect(await call(method, 'hsm/secrets/team/db', body)).toMatchObject({
      status: 404,
      json: { success: false, error: { code: 'secret_not_found' } },
    });
  }
  expect((await call('POST', 'hsm/secrets/team/db', { data: inBase64({ again: 'yes' }) })).json.data.version).toBe(5);
});

it('reads a secret whose name is that of a view, if its path is one segment', async () => {
  expect((await call('POST', 'hsm/secrets/x%2Fmetadata', { data: inBase64({ a: 'b' }) })).status).toBe(201);
  expect((await call('GET', 'hsm/secrets/x%2Fmetadata')).json.data.path).toBe('x/metadata');
  expect((await call('GET', 'hsm/secrets/x/metadata')).status).toBe(404);
});

it('names the devices that did not accept a write with 206, and refuses a write that none accepts with 503', async () => {
  const [, second] = c.devices;
  const device = { namespace: c.namespace, name: DEVICE };
  if (!second) throw new TypeError('there is no second device');
  expect((await call('POST', 'hsm/secrets/partial', { data: inBase64({ a: 'b' }) })).status).toBe(201);
  c.agents.stop(device, second);
  const partial = await call('PUT', 'hsm/secrets/partial', { data: inBase64({ a: 'c' }) });
  expect(partial).toMatchObject({ status: 206, json: { success: true } });
  expect(partial.json.data.devices).toMatchObject([
    { serialNumber: 'S1', ok: true },
    { serialNumber: 'S2', ok: false, error: { reason: 'Unavailable' } },
  ]);
  expect((await call('GET', 'hsm/secrets')).status).toBe(206);
  // The other device may have a secret of this path.
  expect((await call('POST', 'hsm/secrets/unknown', { data: inBase64({ a: 'b' }) })).status).toBe(503);
  const [first] = c.devices;
  if (!first) throw new TypeError('there is no device');
  c.agents.stop(device, first);
  expect(await call('POST', 'hsm/secrets/none', { data: inBase64({ a: 'b' }) })).toMatchObject({
    status: 503,
    headers: { 'retry-after': '2' },
    json: { error: { code: 'hsm_unavailable' } },
  });
  expect((await call('GET', 'hsm/secrets')).status).toBe(503);
  for (const { serialNumber, token: stored } of c.devices) c.agents.add(device, serialNumber, stored);
  const synced = await call('POST', 'hsm/mirror/sync', { force: true });
  expect(synced).toMatchObject({ status: 200, json: { data: { errorCount: 0 } } });
  const { devices } = (await call('GET', 'hsm/secrets/partial/checksum')).json.data;
  expect(devices[0].checksum).toBe(devices[1].checksum);
});

it('describes the devices, and asks each for its state', async () => {
  expect((await call('GET', 'hsm/info')).json.data).toMatchObject({
    device: `${c.namespace}/${DEVICE}`,
    deviceType: 'PicoHSM',
    availableDevices: 2,
    mirroring: { policy: 'Active', primary: 'S1' },
    devices: [
      { serialNumber: 'S1', role: 'Primary' },
      { serialNumber: 'S2', role: 'Mirror' },
    ],
  });
  const { devices } = (await call('GET', 'hsm/status')).json.data;
  expect(devices).toMatchObject([
    { serialNumber: 'S1', healthy: true },
    { serialNumber: 'S2', healthy: true },
  ]);
  expect((await call('POST', 'hsm/retry-pin', {})).json.message).toBe('2 of 2 devices are logged in');
});

it('responds 401 without a token, with garbage, and with a token of the API server', async () => {
  expect(await c.send('GET', 'hsm/secrets')).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    json: { error: { code: 'missing_auth' } },
  });
  const account = await c.account(ALL);
  const { token: ofApiServer } = await c.admin.requestToken({ namespace: account.namespace, name: account.name });
  for (const bad of ['garbage', 'a.b.c', ofApiServer, await c.tokenOf(account, 'another')]) {
    expect(await call('GET', 'hsm/secrets', undefined, bad)).toMatchObject({
      status: 401,
      json: { success: false, error: { code: 'invalid_token' } },
    });
  }
});

it('responds 403 to each request for which the caller has no permission', async () => {
  const nobody = await c.tokenOf(await c.account({}));
  const device = `device=${c.namespace}/${DEVICE}`;
  for (const [method, path, needed] of [
    ['GET', `hsm/secrets?${device}`, 'list hsmdevices/secrets'],
    ['GET', `hsm/secrets/a?${device}`, 'get hsmdevices/secrets'],
    ['GET', `hsm/secrets/a/metadata?${device}`, 'get hsmdevices/secrets'],
    ['POST', `hsm/secrets/a?${device}`, 'create hsmdevices/secrets'],
    ['PUT', `hsm/secrets/a?${device}`, 'update hsmdevices/secrets'],
    ['DELETE', `hsm/secrets/a?${device}`, 'delete hsmdevices/secrets'],
    ['POST', `hsm/change-pin?${device}`, 'update hsmdevices/pin'],
    ['POST', `hsm/retry-pin?${device}`, 'update hsmdevices/pin'],
    ['POST', `hsm/mirror/sync?${device}`, 'update hsmdevices/mirror'],
    ['GET', `hsm/info?${device}`, 'get hsmdevices'],
    ['GET', 'hsm/status', 'get hsmdevices'],
  ] as const) {
    const reply = await call(method, path, method === 'GET' ? undefined : {}, nobody);
    expect(reply).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } });
    expect(reply.json.message).toContain(`may not ${needed} ${c.namespace}/${DEVICE}`);
  }
  const other = await call('GET', `hsm/secrets?device=${c.managerNamespace}/${DEVICE}`);
  expect(other.status).toBe(403);
  const reader = await c.tokenOf(await c.account({ 'hsmdevices/secrets': ['get'] }));
  expect((await call('GET', 'hsm/secrets/team/db', undefined, reader)).status).toBe(200);
  expect((await call('GET', 'hsm/secrets', undefined, reader)).status).toBe(403);
});

it.each([
  ['GET', 'hsm/secrets/a..b', undefined, 400],
  ['GET', 'hsm/secrets/a//b', undefined, 400],
  ['GET', 'hsm/secrets/%E0%A4%A', undefined, 400],
  ['GET', 'hsm/secrets?prefix=/', undefined, 400],
  ['GET', 'hsm/secrets?device=nothing', undefined, 400],
  ['DELETE', 'hsm/secrets/a?Key=a', undefined, 400],
  ['DELETE', 'hsm/secrets/a?key=', undefined, 400],
  ['DELETE', 'hsm/secrets/a?key=a&key=b', undefined, 400],
  ['POST', 'hsm/secrets/a', `{"data": {"a": "${CANARY}`, 400],
  ['POST', 'hsm/secrets/a', `{"data": {}, "data": {}}`, 400],
  ['POST', 'hsm/secrets/a', [], 400],
  ['POST', 'hsm/secrets/a', {}, 400],
  ['POST', 'hsm/secrets/a', { data: {} }, 400],
  ['POST', 'hsm/secrets/a', { data: { a: CANARY } }, 400],
  ['POST', 'hsm/secrets/a', { data: { 'a/b': 'YQ==' } }, 400],
  ['POST', 'hsm/secrets/a', { data: { a: 'YQ==' }, other: CANARY }, 400],
  ['POST', 'hsm/secrets/a', { data: { a: 'YQ==' }, metadata: { labels: { a: 1 } } }, 400],
  ['PUT', 'hsm/secrets/a', { data: { a: 'YQ==' }, replaces: -1 }, 400],
  ['POST', 'hsm/change-pin', { newPin: '' }, 400],
  ['POST', 'hsm/change-pin', { pin: CANARY }, 400],
  ['POST', 'hsm/mirror/sync', { force: 'yes' }, 400],
  ['PATCH', 'hsm/secrets/a', undefined, 405],
  ['OPTIONS', 'hsm/secrets', undefined, 405],
  ['GET', 'hsm/nothing', undefined, 404],
  ['GET', '../../metrics', undefined, 404],
  ['POST', 'auth/token', { token: CANARY }, 410],
])('refuses %s %s with %j: %s', async (method, path, body, status) => {
  const reply = await call(method, path, body);
  expect(reply).toMatchObject({ status, json: { success: false, error: { code: 'validation_failed' } } });
});

it('answers health without a token, with no headers for browsers', async () => {
  const reply = await c.send('GET', 'health', { headers: { origin: 'https://example.test' } });
  expect(reply).toMatchObject({ status: 200, json: { success: true, message: 'ok' } });
  expect(Object.keys(reply.headers).filter((name) => /^access-control|^set-cookie|^server$/.test(name))).toEqual([]);
  expect(reply.headers['cache-control']).toBe('no-store');
});

it('refuses a body of more than 2 MiB and values of more than 1 MiB with 413', async () => {
  const reply = await call('POST', 'hsm/secrets/large', { data: { a: 'A'.repeat(2 * 1024 * 1024) } });
  expect(reply).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
  const large = await call('POST', 'hsm/secrets/large', { data: { a: 'A'.repeat(4 * 349_528) } });
  expect(large).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
});

it('changes the PIN on all devices and in its Secret, and completes an interrupted change', async () => {
  const secret = { namespace: c.namespace, name: PIN_SECRET };
  const pinOf = async () => (await c.admin.get(Secret, secret)).data;
  const onlyPin = await c.tokenOf(await c.account({ 'hsmdevices/pin': ['update'] }));
  expect(await call('POST', 'hsm/change-pin', { newPin: NEW_PIN }, onlyPin)).toMatchObject({
    status: 403,
    json: { error: { message: expect.stringContaining(`may not update the Secret ${c.namespace}/${PIN_SECRET}`) } },
  });
  expect(await pinOf()).toEqual(inBase64({ pin: '648219' }));

  const device = { namespace: c.namespace, name: DEVICE };
  const [, second] = c.agents.agentsOf(device) as typeof c.devices;
  if (!second) throw new TypeError('there is no second device');
  c.agents.stop(device, second);
  const interrupted = await call('POST', 'hsm/change-pin', { newPin: NEW_PIN });
  expect(interrupted).toMatchObject({ status: 206, json: { data: { devices: [{ ok: true }, { ok: false }] } } });
  expect(interrupted.json.message).toContain('not S2');
  expect(await pinOf()).toEqual(inBase64({ pin: '648219', 'pin.next': NEW_PIN }));
  expect((await call('POST', 'hsm/change-pin', { newPin: '1111' })).status).toBe(409);

  c.agents.add(device, 'S2', second.token);
  expect((await call('POST', 'hsm/change-pin', { newPin: NEW_PIN })).status).toBe(200);
  expect(await pinOf()).toEqual(inBase64({ pin: NEW_PIN }));
  for (const { token: changed } of c.devices) expect(() => changed.open().login(Buffer.from(NEW_PIN))).not.toThrow();
});

it('reveals values and PINs only to readers of a secret, and publishes its location once', async () => {
  expect((await call('POST', 'hsm/secrets/canary', { data: inBase64({ value: CANARY }) })).status).toBe(201);
  expect((await call('GET', 'hsm/secrets/canary/metadata')).status).toBe(200);
  const { data, metadata } = await c.admin.get(ConfigMap, { namespace: c.managerNamespace, name: API_CONFIG_MAP });
  expect(Object.keys(data ?? {}).sort()).toEqual([
    'audience',
    'ca.crt',
    'serverName',
    'service',
    'serviceAccount',
    'url',
  ]);
  const all = [...lines, ...replies, JSON.stringify(data)].join('\n');
  for (const secret of [CANARY, Buffer.from(CANARY).toString('base64').slice(0, -4), NEW_PIN, token])
    expect(all).not.toContain(secret);
  expect(lines.join()).toContain('secret changed through the API');

  await c.restart();
  const key = { namespace: c.managerNamespace, name: API_CONFIG_MAP };
  const again = await vi.waitFor(
    async () => {
      await c.clock.advance(1_000);
      const found = await c.admin.get(ConfigMap, key);
      expect(found.data?.url).not.toBe(data?.url);
      return found;
    },
    { timeout: 20_000, interval: 250 },
  );
  // Only the port differs: it was any free port.
  expect({ ...again.data, url: '' }).toEqual({ ...data, url: '' });
  expect(again.metadata?.uid).toBe(metadata?.uid);
}, 60_000);
