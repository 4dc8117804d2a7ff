import { describe, expect, it } from 'vitest';
import { startTestServer, type TestResponse } from '../../in-process.test-support.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };
const SERVICES = '/api/v1/namespaces/a/services';

interface ServiceSpec {
  readonly clusterIP: string;
  readonly ports: readonly { readonly nodePort?: number }[];
}
const specOf = ({ body }: TestResponse): ServiceSpec => body.spec as ServiceSpec;

describe('a namespace', () => {
  it('stays after its deletion until its spec finalizers are removed', async () => {
    const t = startTestServer();
    const path = '/api/v1/namespaces/a';
    await t.call('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
    const deleted = await t.call('DELETE', path);
    expect([deleted.body.kind, deleted.body.status]).toEqual(['Namespace', { phase: 'Terminating' }]);
    expect(deleted.body.metadata).toMatchObject({ deletionTimestamp: expect.any(String) as string });
    // A second deletion changes nothing.
    expect((await t.call('DELETE', path)).body.metadata?.resourceVersion).toBe(deleted.body.metadata?.resourceVersion);
    await t.call('PUT', `${path}/status`, { ...deleted.body, status: { phase: 'Terminating', conditions: [] } });
    expect((await t.call('GET', path)).status).toBe(200);
    expect((await t.call('PUT', `${path}/finalize`, { metadata: { name: 'a' }, spec: {} })).status).toBe(200);
    expect((await t.call('GET', path)).status).toBe(404);
  });

  it('stays while its metadata has finalizers', async () => {
    const t = startTestServer();
    const path = '/api/v1/namespaces/a';
    await t.call('POST', '/api/v1/namespaces', { metadata: { name: 'a', finalizers: ['x.y/z'] } });
    await t.call('DELETE', path);
    await t.call('PUT', `${path}/finalize`, { metadata: { name: 'a', finalizers: ['x.y/z'] }, spec: {} });
    expect((await t.call('GET', path)).status).toBe(200);
    await t.call('PATCH', path, { metadata: { finalizers: null } }, MERGE);
    expect((await t.call('GET', path)).status).toBe(404);
  });
});

describe('services', () => {
  it('never share an address or a node port, however many are created at once', async () => {
    const t = startTestServer();
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        t.call('POST', SERVICES, {
          metadata: { name: `s${index}` },
          spec: { type: 'NodePort', ports: [{ port: 80 }] },
        }),
      ),
    );
    expect(new Set(made.map((response) => specOf(response).clusterIP)).size).toBe(100);
    expect(new Set(made.map((response) => specOf(response).ports[0]?.nodePort)).size).toBe(100);
  });

  it('are refused when no address is free, and release their address on deletion', async () => {
    const t = startTestServer();
    const create = (name: string) => t.call('POST', SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
    for (let index = 0; index < 254; index++) expect((await create(`s${index}`)).status).toBe(201);
    expect((await create('more')).body.message).toContain('range is full');
    const released = specOf(await t.call('DELETE', `${SERVICES}/s7`)).clusterIP;
    expect(specOf(await create('more')).clusterIP).toBe(released);
  });

  it.each([
    ['an allocated clusterIP', { clusterIP: '10.0.0.9', ports: [{ port: 80 }] }, 'provided IP is already allocated'],
    [
      'an allocated nodePort',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 30009 }] },
      'provided port is already allocated',
    ],
    ['a nodePort out of range', { type: 'NodePort', ports: [{ port: 80, nodePort: 9 }] }, 'is not in the valid range'],
  ])('are refused with %s', async (_what, spec, message) => {
    const t = startTestServer();
    const owner = { type: 'NodePort', clusterIP: '10.0.0.9', ports: [{ port: 80, nodePort: 30009 }] };
    await t.call('POST', SERVICES, { metadata: { name: 'owner' }, spec: owner });
    const response = await t.call('POST', SERVICES, { metadata: { name: 'b' }, spec });
    expect([response.status, response.body.message]).toEqual([422, expect.stringContaining(message)]);
  });

  it('keep their addresses across a restart', async () => {
    const t = startTestServer();
    const kept = { metadata: { name: 's', namespace: 'a' }, spec: { clusterIPs: ['10.0.0.9'] } };
    t.server.storage.create('services', 'a/s', kept);
    const spec = { clusterIP: '10.0.0.9', ports: [{ port: 80 }] };
    const response = await t.call('POST', SERVICES, { metadata: { name: 't' }, spec });
    expect(response.body.message).toContain('already allocated');
  });
});

describe('events', () => {
  it('are watched in the shape of the requested group, whichever group wrote them', async () => {
    const t = startTestServer();
    const events = await t.stream('/apis/events.k8s.io/v1/namespaces/a/events?watch=true');
    const next = events.next();
    const about = { kind: 'Pod', name: 'p', namespace: 'a' };
    await t.call('POST', '/api/v1/namespaces/a/events', {
      metadata: { name: 'e' },
      involvedObject: about,
      message: 'm',
    });
    expect((await next).value).toMatchObject({ type: 'ADDED', object: { regarding: about, note: 'm' } });
  });
});

describe('webhook configurations', () => {
  it.each([
    ['nope', 'compilation failed'],
    ['1 +', 'compilation failed'],
    ['object.x', 'must evaluate to bool but got dyn'],
  ])('are refused with the condition %s', async (expression, message) => {
    const t = startTestServer();
    const webhook = {
      name: 'a.b.c',
      clientConfig: { url: 'https://a' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions: [{ name: 'c', expression }],
    };
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    const response = await t.call('POST', path, { metadata: { name: 'w' }, webhooks: [webhook] });
    expect(response.body.message).toContain(
      `webhooks[0].matchConditions[0].expression: Invalid value: "${expression}"`,
    );
    expect(response.body.message).toContain(message);
  });
});

describe('claims', () => {
  const CLAIMS = '/api/v1/namespaces/a/persistentvolumeclaims';
  const storage = (amount: string): object => ({ spec: { resources: { requests: { storage: amount } } } });
  it.each([
    ['may grow when they are bound', 'Bound', storage('2Gi'), 200],
    ['may not grow before they are bound', 'Pending', storage('2Gi'), 422],
    ['may not change their access modes', 'Bound', { spec: { accessModes: ['ReadOnlyMany'] } }, 422],
  ])('%s', async (_what, phase, change, status) => {
    const t = startTestServer();
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await t.call('POST', CLAIMS, { metadata: { name: 'c' }, spec });
    await t.call('PATCH', `${CLAIMS}/c/status`, { status: { phase, capacity: { storage: '1Gi' } } }, MERGE);
    expect((await t.call('PATCH', `${CLAIMS}/c`, change, MERGE)).status).toBe(status);
  });
});

describe('secrets', () => {
  it('for registries are refused without revealing their content', async () => {
    const t = startTestServer();
    const data = { '.dockerconfigjson': Buffer.from('hunter2').toString('base64') };
    const secret = { metadata: { name: 's' }, type: 'kubernetes.io/dockerconfigjson', data };
    const { status, body } = await t.call('POST', '/api/v1/namespaces/a/secrets', secret);
    expect([status, JSON.stringify(body)]).toEqual([422, expect.not.stringContaining('hunter2')]);
  });

  it('accept keys that are special to JavaScript', async () => {
    const t = startTestServer();
    const text = '{"metadata":{"name":"s"},"stringData":{"__proto__":"x","constructor":"y"}}';
    const { body } = await t.call('POST', '/api/v1/namespaces/a/secrets', text);
    expect(JSON.stringify(body.data)).toBe('{"__proto__":"eA==","constructor":"eQ=="}');
  });
});

describe('quotas', () => {
  it('show used and allowed requests and limits', async () => {
    const t = startTestServer();
    const quotas = '/api/v1/namespaces/a/resourcequotas';
    await t.call('POST', quotas, {
      metadata: { name: 'q' },
      spec: { hard: { cpu: 1, 'limits.cpu': '2.5', pods: 10 } },
    });
    const status = {
      hard: { pods: '10', cpu: 1, 'limits.cpu': '2.5' },
      used: { cpu: '500m', 'limits.cpu': 0, pods: 1 },
    };
    await t.call('PATCH', `${quotas}/q/status`, { status }, MERGE);
    const table = await t.call('GET', quotas, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const [row] = table.body.rows as { cells: unknown[] }[];
    expect(row?.cells.slice(0, 3)).toEqual(['q', 'cpu: 500m/1, pods: 1/10', 'limits.cpu: 0/2500m']);
  });
});
