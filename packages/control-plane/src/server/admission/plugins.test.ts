import { describe, expect, it } from 'vitest';
import { ADMIN, type GuardedServer, startGuardedServer } from '../authorization/guarded-server.test-support.ts';

async function start(): Promise<GuardedServer> {
  const t = startGuardedServer({ admits: true });
  for (const name of ['default', 'going']) await t.send(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name } });
  return t;
}

async function warningsOf(t: GuardedServer, url: string, object: object): Promise<unknown> {
  const { status, headers } = await t.server.handle({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: () => Promise.resolve(Buffer.from(JSON.stringify(object))),
    signal: new AbortController().signal,
    connection: {
      remoteAddress: '',
      isSecure: true,
      certificate: { commonName: 'admin', organizations: ['system:masters'] },
    },
  });
  expect(status).toBe(201);
  return headers.warning;
}

describe('admission', () => {
  it('rejects new objects in a terminating namespace, but allows updates and deletions', async () => {
    using t = await start();
    const maps = '/api/v1/namespaces/going/configmaps';
    await t.send(ADMIN, 'POST', maps, { metadata: { name: 'old' } });
    const { storage } = t.server;
    const stored = storage.get('namespaces', '/going');
    storage.update('namespaces', '/going', stored?.revision ?? 0, {
      metadata: { name: 'going', uid: stored?.uid },
      status: { phase: 'Terminating' },
    } as never);
    const refused = await t.send(ADMIN, 'POST', maps, { metadata: { name: 'new' } });
    const why = 'unable to create new content in namespace going because it is being terminated';
    expect(refused.body).toMatchObject({
      code: 403,
      message: `configmaps "new" is forbidden: ${why}`,
      details: {
        name: 'new',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace going is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    });
    expect((await t.send(ADMIN, 'PUT', `${maps}/old`, { metadata: { name: 'old' }, data: { a: 'b' } })).code).toBe(200);
    expect((await t.send(ADMIN, 'DELETE', `${maps}/old`)).code).toBe(200);
  });

  it.each<[string, string, object, string | undefined]>([
    [
      'warns about limit ranges',
      '/api/v1/namespaces/default/limitranges',
      { spec: { limits: [] } },
      'stores this LimitRange',
    ],
    [
      'warns about quotas scoped by volume attributes class',
      '/api/v1/namespaces/default/resourcequotas',
      { spec: { scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'Exists' }] } } },
      'quotas with the scope VolumeAttributesClass',
    ],
    [
      'does not warn about other quotas',
      '/api/v1/namespaces/default/resourcequotas',
      { spec: { hard: { pods: '1' } } },
      undefined,
    ],
    [
      'warns about Pod Security levels',
      '/api/v1/namespaces',
      { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      'Pod Security level \\"restricted\\"',
    ],
    [
      'does not warn about the Pod Security level privileged',
      '/api/v1/namespaces',
      { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
      undefined,
    ],
  ])('%s', async (_what, url, { labels, ...rest }: { labels?: object }, warning) => {
    using t = await start();
    const warnings = await warningsOf(t, url, { metadata: { name: 'a', labels }, ...rest });
    expect(warnings).toEqual(warning === undefined ? undefined : [expect.stringContaining(warning)]);
  });

  it('allows only one default priority class and assigns it to Pods without a class', async () => {
    using t = await start();
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await t.send(ADMIN, 'POST', classes, { metadata: { name: 'usual' }, value: 5, globalDefault: true });
    const second = await t.send(ADMIN, 'POST', classes, { metadata: { name: 'b' }, value: 6, globalDefault: true });
    expect(second.body.message).toBe(
      'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    );
    await t.send(ADMIN, 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const { body } = await t.send(ADMIN, 'POST', '/api/v1/namespaces/default/pods', pod);
    expect(body.spec).toMatchObject({ priorityClassName: 'usual', priority: 5 });
  });
});
