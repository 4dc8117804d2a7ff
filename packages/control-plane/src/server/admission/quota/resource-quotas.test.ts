import { describe, expect, it } from 'vitest';
import {
  ADMIN,
  type GuardedResponse,
  type GuardedServer,
  startGuardedServer,
} from '../../authorization/guarded-server.test-support.ts';

const QUOTAS = '/api/v1/namespaces/here/resourcequotas';
const MAPS = '/api/v1/namespaces/here/configmaps';
const PODS = '/api/v1/namespaces/here/pods';

async function start(hard?: Record<string, string>, spec: object = {}): Promise<GuardedServer> {
  const t = startGuardedServer({ admits: true });
  for (const name of ['here', 'there']) await t.send(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name } });
  await t.send(ADMIN, 'POST', '/api/v1/namespaces/here/serviceaccounts', { metadata: { name: 'default' } });
  if (hard) await t.send(ADMIN, 'POST', QUOTAS, { metadata: { name: 'few' }, spec: { hard, ...spec } });
  return t;
}

const add = (t: GuardedServer, url: string, name: string, more: object = {}): Promise<GuardedResponse> =>
  t.send(ADMIN, 'POST', url, { metadata: { name }, ...more });

async function statusOf(t: GuardedServer): Promise<unknown> {
  return (await t.send(ADMIN, 'GET', `${QUOTAS}/few`)).body.status;
}

const container = (resources: object = {}) => ({ spec: { containers: [{ name: 'c', image: 'i', resources }] } });

describe('quotas', () => {
  it('hold for concurrent creates and release the usage of deleted objects', async () => {
    using t = await start({ configmaps: '3', 'count/configmaps': '4' });
    const names = Array.from({ length: 20 }, (_, index) => `map-${index}`);
    const responses = await Promise.all(names.map((name) => add(t, MAPS, name)));
    expect(responses.filter(({ code }) => code === 201)).toHaveLength(3);
    expect(responses.find(({ code }) => code === 403)?.body).toMatchObject({
      reason: 'Forbidden',
      message: expect.stringMatching(
        /^configmaps "map-\d+" is forbidden: exceeded quota: few, requested: configmaps=1, used: configmaps=3, limited: configmaps=3$/,
      ),
    });
    const hard = { configmaps: '3', 'count/configmaps': '4' };
    expect(await statusOf(t)).toEqual({ hard, used: { configmaps: '3', 'count/configmaps': '3' } });
    expect((await add(t, '/api/v1/namespaces/there/configmaps', 'elsewhere')).code).toBe(201);
    expect((await t.send(ADMIN, 'DELETE', `${MAPS}/map-0`)).code).toBe(200);
    expect(await statusOf(t)).toMatchObject({ used: { configmaps: '2' } });
    expect((await add(t, `${MAPS}?dryRun=All`, 'tried')).code).toBe(201);
    expect((await add(t, MAPS, 'last')).code).toBe(201);
    expect((await add(t, `${MAPS}?dryRun=All`, 'tried')).code).toBe(403);
    expect((await t.send(ADMIN, 'PUT', `${MAPS}/last`, { metadata: { name: 'last' }, data: { a: 'b' } })).code).toBe(
      200,
    );
  });

  it('count existing objects and follow changes of their limits until they are deleted', async () => {
    using t = await start();
    await add(t, MAPS, 'a');
    await add(t, QUOTAS, 'few', {
      spec: { hard: { 'count/configmaps': '1', 'count/odd.example.test': '1', 'count/events': '0' } },
    });
    expect(await statusOf(t)).toMatchObject({ used: { 'count/configmaps': '1' } });
    expect((await add(t, MAPS, 'b')).code).toBe(403);
    const { body } = await t.send(ADMIN, 'GET', `${QUOTAS}/few`);
    await t.send(ADMIN, 'PUT', `${QUOTAS}/few`, { ...body, spec: { hard: { 'count/configmaps': '2' } } });
    expect(await statusOf(t)).toEqual({ hard: { 'count/configmaps': '2' }, used: { 'count/configmaps': '1' } });
    expect((await add(t, MAPS, 'b')).code).toBe(201);
    expect((await add(t, MAPS, 'c')).code).toBe(403);
    await t.send(ADMIN, 'DELETE', `${QUOTAS}/few`);
    expect((await add(t, MAPS, 'c')).code).toBe(201);
  });

  it('limit the requests of Pods and release them when the Pods have ended', async () => {
    using t = await start({ 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '5' });
    const resourceSpec = { requests: { cpu: '600m' }, limits: { memory: '512Mi' } };
    expect((await add(t, PODS, 'silent', container())).body.message).toBe(
      'pods "silent" is forbidden: failed quota: few: must specify limits.memory for: c; requests.cpu for: c',
    );
    expect((await add(t, PODS, 'a', container(resourceSpec))).code).toBe(201);
    expect((await add(t, PODS, 'b', container(resourceSpec))).body.message).toBe(
      'pods "b" is forbidden: exceeded quota: few, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
    expect(await statusOf(t)).toMatchObject({ used: { 'requests.cpu': '600m', 'limits.memory': '512Mi', pods: '1' } });
    const ended = { metadata: { name: 'a' }, status: { phase: 'Succeeded' } };
    expect((await t.send(ADMIN, 'PUT', `${PODS}/a/status`, ended)).code).toBe(200);
    expect(await statusOf(t)).toMatchObject({ used: { 'requests.cpu': '0', 'limits.memory': '0', pods: '0' } });
    expect((await add(t, PODS, 'b', container(resourceSpec))).code).toBe(201);
  });

  it('limit node ports also when a Service is changed to use them', async () => {
    using t = await start({ 'services.nodeports': '1', services: '2' });
    const services = '/api/v1/namespaces/here/services';
    const spec = (type: string) => ({
      spec: {
        type,
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2 },
        ],
      },
    });
    expect((await add(t, services, 's', spec('ClusterIP'))).code).toBe(201);
    const { code, body } = await t.send(ADMIN, 'PUT', `${services}/s`, {
      metadata: { name: 's' },
      ...spec('NodePort'),
    });
    expect([code, body.message]).toEqual([
      403,
      'services "s" is forbidden: exceeded quota: few, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
    ]);
  });

  it.each<[string, object, object, boolean]>([
    ['BestEffort', { scopes: ['BestEffort'] }, container(), true],
    ['BestEffort', { scopes: ['BestEffort'] }, container({ requests: { cpu: '1' } }), false],
    ['Terminating', { scopes: ['Terminating'] }, container(), false],
    ['NotTerminating', { scopes: ['NotTerminating'] }, container(), true],
    [
      'CrossNamespacePodAffinity',
      { scopes: ['CrossNamespacePodAffinity'] },
      {
        spec: {
          ...container().spec,
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a', namespaceSelector: {} }],
            },
          },
        },
      },
      true,
    ],
    [
      'PriorityClass',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
      container(),
      false,
    ],
  ])('with the scope %s apply to the Pods in it (%#)', async (_name, spec, pod, isLimited) => {
    using t = await start({ pods: '0' }, spec);
    expect((await add(t, PODS, 'a', pod)).code).toBe(isLimited ? 403 : 201);
    expect(await statusOf(t)).toMatchObject({ used: { pods: '0' } });
  });
});
