import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHN, type BothServers, bothServers, essential, RBAC } from './both-servers.test-support.ts';

let servers: BothServers;
beforeAll(async () => {
  servers = await bothServers();
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

describe('refusals have the messages of the real server', () => {
  it.each([
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/namespaces/NS/pods/x/log'],
    ['GET', '/api/v1/namespaces/NS'],
    ['GET', '/api/v1/namespaces/NS/status'],
    ['PUT', '/apis/apps/v1/namespaces/NS/deployments/x/scale'],
    ['DELETE', '/apis/apps/v1/namespaces/NS/deployments'],
    ['GET', '/apis/nope.example/v1/things?watch=true'],
    ['GET', '/metrics'],
    ['POST', '/version'],
    ['POST', `${AUTHN}/tokenreviews`],
  ])('of %s %s', async (method, path) => {
    for (const who of [undefined, servers.userOf('lost')]) {
      const responses = await servers.both(who, method, path, method === 'GET' ? undefined : {});
      expect(responses.ours).toEqual(responses.real);
    }
  });

  it.each<[string, string, string, object]>([
    [
      'an apply',
      'PATCH',
      '/api/v1/namespaces/NS/configmaps/OWN-a?fieldManager=a',
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'OWN-a' } },
    ],
    [
      'an apply of something invalid',
      'PATCH',
      '/api/v1/namespaces/NS/configmaps/OWN-a?fieldManager=a',
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'OWN-a' }, data: { 'a b': '' } },
    ],
    ['an update', 'PUT', '/apis/coordination.k8s.io/v1/namespaces/NS/leases/OWN-a', { metadata: { name: 'OWN-a' } }],
  ])('to create an object with %s', async (_what, method, path, object) => {
    const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
    const { real, ours } = await servers.both(servers.userOf('changer'), method, path, object, [
      ['content-type', type],
    ]);
    expect(real.code).toBeGreaterThanOrEqual(403);
    expect(ours).toEqual(real);
  });

  it.each<[string, (readonly [string, string])[]]>([
    [
      'an allowed user',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-group', 'g'],
        ['impersonate-uid', 'a'],
        ['impersonate-extra-scopes', 'a'],
      ],
    ],
    ['another user', [['impersonate-user', 'al']]],
    ['a ServiceAccount', [['impersonate-user', 'system:serviceaccount:NS:x']]],
    [
      'one group of two',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-group', 'g'],
        ['impersonate-group', 'h, i'],
      ],
    ],
    [
      'another value',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-extra-scopes', 'b'],
      ],
    ],
    [
      'another key',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-extra-foo.com%2FBar', 'a'],
      ],
    ],
    [
      'another uid',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-uid', 'b'],
      ],
    ],
    [
      'nobody',
      [
        ['impersonate-group', 'g'],
        ['impersonate-uid', 'a'],
      ],
    ],
  ])('to impersonate %s', async (_name, headers) => {
    const responses = await servers.both(servers.userOf('actor'), 'POST', `${AUTHN}/selfsubjectreviews`, {}, headers);
    expect(essential(responses.ours)).toEqual(essential(responses.real));
  });

  const clusterRole = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
  it.each<[string, string, string, object, ('merge' | undefined)?]>([
    [
      'a role within the rights of the user',
      'POST',
      'namespaces/NS/roles',
      {
        metadata: { name: 'within' },
        rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods', 'pods/status', 'nodes/status'] }],
      },
    ],
    [
      'a role beyond the rights of the user',
      'POST',
      'namespaces/NS/roles',
      {
        metadata: { name: 'beyond' },
        rules: [
          { verbs: ['get', 'delete'], apiGroups: ['', 'apps'], resources: ['pods', 'secrets'] },
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
        ],
      },
    ],
    [
      'a role for everything',
      'POST',
      'namespaces/NS/roles',
      { metadata: { name: 'everything' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    ],
    [
      'a cluster role for paths',
      'POST',
      'clusterroles',
      { metadata: { name: 'OWN:x' }, rules: [{ verbs: ['get', 'put'], nonResourceURLs: ['/metrics', '/api/*'] }] },
    ],
    [
      'an aggregated role',
      'POST',
      'clusterroles',
      { metadata: { name: 'OWN:x' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
    ],
    [
      'a change beyond the rights of the user',
      'PATCH',
      'namespaces/NS/roles/secrets',
      { metadata: { labels: { a: 'b' } } },
      'merge',
    ],
    ['a finalizer', 'PATCH', 'namespaces/NS/roles/secrets', { metadata: { finalizers: ['a/b'] } }, 'merge'],
    ['none', 'PATCH', 'namespaces/NS/roles/secrets', { metadata: { finalizers: null } }, 'merge'],
    [
      'a change of a role that the user may escalate',
      'PATCH',
      'namespaces/NS/roles/escalated',
      { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }] },
      'merge',
    ],
    [
      'a binding to a role that the user may bind',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'bound' }, roleRef: clusterRole('OWN:scaler') },
    ],
    [
      'a binding to another role',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'unbound' }, roleRef: clusterRole('OWN:reader') },
    ],
    [
      'a binding to cluster-admin',
      'POST',
      'clusterrolebindings',
      { metadata: { name: 'OWN:unbound' }, roleRef: clusterRole('cluster-admin') },
    ],
    [
      'a binding to view',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'viewer' }, roleRef: clusterRole('view') },
    ],
    [
      'a binding to a missing role',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'unbound' }, roleRef: clusterRole('OWN:none') },
    ],
  ])('to grant %s', async (_name, method, path, body, patch) => {
    const headers = patch ? [['content-type', 'application/merge-patch+json'] as const] : [];
    const responses = await servers.both(servers.userOf('maker'), method, `${RBAC}/${path}`, body, headers);
    expect(essential(responses.ours)).toEqual(essential(responses.real));
  });
});
