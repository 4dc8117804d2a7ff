import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { ServiceAccount } from '@bowline/kubernetes';
import { CertificateAuthority } from '@bowline/runtime/certificates';
import { createLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { HSMPool } from '../api/hsm-pool.ts';
import { MANAGER_NAME, OPERATOR, poolName } from '../api/names.ts';
import { hsmCluster } from '../testing/hsm-cluster.test-support.ts';
import { DEVICE } from '../testing/secrets-cluster.test-support.ts';
import { ALL, type ApiCluster, apiCluster, inBase64, sendTo } from './api-cluster.test-support.ts';
import { MAX_REQUESTS } from './api-server.ts';
import { HttpApi } from './http-api.ts';
import { BODY_TIMEOUT_MS } from './read-body.ts';

/** openRequest sends the headers of a request, and returns its status once the server has begun to read the body. */
async function openRequest(
  { location, namespace }: ApiCluster,
  token: string,
): Promise<{ readonly status: Promise<number> }> {
  const url = new URL(`/api/v1/hsm/secrets/slow?device=${namespace}/${DEVICE}`, location.url);
  const sent = request(url, {
    method: 'POST',
    ca: location['ca.crt'],
    servername: location.serverName,
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-length': 10, expect: '100-continue' },
  });
  const status = once(sent, 'response').then(([response]) => {
    response.resume();
    return Number(response.statusCode);
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  return { status };
}

it('answers 64 requests at a time, others get 429, and a body that does not arrive gets 408', async () => {
  await using c = await apiCluster();
  const token = await c.tokenOf(await c.account(ALL));
  // The permission is cached from here on, so that the server reads a body at once.
  expect((await c.send('POST', `hsm/secrets/a?device=${c.namespace}/${DEVICE}`, { token, body: {} })).status).toBe(400);
  const open: Promise<number>[] = [];
  for (let count = 0; count < MAX_REQUESTS; count++) {
    const { status } = await openRequest(c, token);
    open.push(status);
  }
  expect(await c.send('GET', 'hsm/secrets', { token })).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
    json: { success: false, error: { code: 'too_many' } },
  });
  await c.clock.advance(BODY_TIMEOUT_MS);
  expect(new Set(await Promise.all(open))).toEqual(new Set([408]));
  expect((await c.send('GET', 'hsm/secrets', { token })).status).toBe(200);
}, 60_000);

it('speaks TLS 1.3 only, and refuses the token of a deleted account', async () => {
  await using c = await apiCluster();
  const { hostname, port } = new URL(c.location.url ?? '');
  const old = connect({ host: hostname, port: Number(port), ca: c.location['ca.crt'], maxVersion: 'TLSv1.2' });
  const [error] = await once(old, 'error');
  expect(String(error.code)).toContain('TLSV1_ALERT_PROTOCOL_VERSION');

  const account = await c.account(ALL);
  const token = await c.tokenOf(account);
  await c.admin.delete(ServiceAccount, { namespace: account.namespace, name: account.name });
  expect((await c.send('GET', 'hsm/secrets', { token })).json.error.code).toBe('invalid_token');
}, 60_000);

it('serves secrets on a replica that does not lead, which refuses requests that write to the cluster', async () => {
  await using c = await apiCluster();
  const { admin: client, managerNamespace: namespace, clock } = c;
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const authority = new CertificateAuthority({
    operator: OPERATOR,
    secret: { namespace, name: 'hsm-secrets-mtls' },
    certificate: { names: [MANAGER_NAME], usages: ['client'] },
    clock,
  });
  const names = { accountName: 'unused', requestMirror: () => {} };
  const options = { client, agents: c.agents, authority, namespace, namespaces: undefined, clock, log };
  const follower = new HttpApi({ ...options, ...names, address: '127.0.0.1:0' });
  const end = new AbortController();
  const service = { listensOn: () => {}, readiness: () => {} };
  const running = Promise.all([authority.run(end.signal, client), follower.serve(end.signal, service)]);
  try {
    const port = await follower.port(end.signal);
    const token = await c.tokenOf(await c.account(ALL));
    const location = { ...c.location, url: `https://127.0.0.1:${port}` };
    const device = `device=${c.namespace}/${DEVICE}`;
    const body = { data: inBase64({ a: 'b' }) };
    expect((await sendTo(location, 'POST', `hsm/secrets/a?${device}`, { token, body })).status).toBe(201);
    for (const path of ['change-pin', 'retry-pin', 'mirror/sync']) {
      const reply = await sendTo(location, 'POST', `hsm/${path}?${device}`, { token, body: {} });
      expect(reply).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        json: { error: { code: 'not_leader' } },
      });
    }
    expect((await c.send('GET', `hsm/secrets/a?${device}`, { token })).status).toBe(200);
  } finally {
    end.abort();
    await running.catch(() => undefined);
  }
  expect(lines.join()).toContain('serving the API');
}, 60_000);

it('is not served by a manager that is limited to namespaces, and the rest of the operator works', async () => {
  const lines: string[] = [];
  await using c = await hsmCluster({
    nodes: 0,
    config: { api: { enabled: true, address: '127.0.0.1:0' } },
    log: createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    selectNamespaces: (cluster) => Promise.resolve([cluster.namespace]),
  });
  await c.createDevice(DEVICE);
  await c.until(HSMPool, { name: poolName(DEVICE) }, () => true);
  expect(lines.filter((line) => line.includes('the API is not served'))).toHaveLength(1);
}, 60_000);
