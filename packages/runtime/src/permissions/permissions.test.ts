import { ConfigMap, Lease, Node, type ObjectKey, Pod, Secret, ServiceAccount } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { podLog } from '../client/pod-log.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { allow, OWN_NAMESPACE, permission } from './permission.ts';
import { restrictedClient } from './restricted-client.ts';

describe('a restricted client', () => {
  const permissions = [
    allow(['get', 'list'], ConfigMap, { namespaces: ['a'] }),
    allow(['get', 'watch'], Secret, { names: ['key'] }),
    allow(['create'], Lease, { namespaces: [OWN_NAMESPACE] }),
    allow(['create'], ServiceAccount, { subresource: 'token', names: ['a'] }),
    allow(['get'], Pod, { subresource: 'proxy' }),
    // As `.applies(Pod, { names: ['a'] })` declares it.
    permission(['create'], Pod, { names: ['a'] }),
  ];
  const setUp = () => {
    const server = new MemoryApiServer();
    const client = createClient({ transport: server.transport() });
    return { server, client: restrictedClient(client, permissions, { operator: 'site', namespace: 'own' }) };
  };
  const secret = { namespace: 'a', name: 'key' };
  // The server of these tests does not know every path; it is enough that the request was sent.
  const ignore = (error: { readonly code?: string }) => expect(error.code).not.toBe('BOWLINE_UNDECLARED_PERMISSION');
  const FREE_PATHS = [
    '/version',
    '/readyz/etcd?verbose',
    '/openapi/v3/apis/apps/v1?hash=x',
    '/api/v1',
    '/apis/apps/v1/',
  ];

  it('allows declared requests', async () => {
    const { server, client } = setUp();
    await client.find(ConfigMap, { namespace: 'a', name: 'x' });
    await client.list(ConfigMap, { namespace: 'a' });
    await client.find(Secret, secret);
    await client.onLeaseLane().create(Lease, { metadata: { namespace: 'own', name: 'x' } });
    await client.watch(Secret, { namespace: 'a', fieldSelector: 'metadata.name=key' });
    await client.canI({ verb: 'get', resource: 'pods' }).catch(ignore);
    // RBAC sees only the subresource, whatever path follows it.
    await client.readText(Pod, secret, { subresource: 'proxy/metrics' }).catch(ignore);
    for (const path of FREE_PATHS) await client.raw(path).catch(ignore);
    expect(server.requests).toHaveLength(7 + FREE_PATHS.length);
  });

  type Call = (client: ReturnType<typeof setUp>['client']) => Promise<unknown>;
  it.each<[string, Call, RegExp]>([
    [
      'a list in another namespace',
      (c) => c.list(ConfigMap, { namespace: 'b' }),
      /may list configmaps in namespace b \(only in the namespaces a\): declare \.owns\(ConfigMap\) or \.watches\(ConfigMap, …\) on a controller, or add allow\(\['list'\], ConfigMap\)/,
    ],
    ['a list everywhere', (c) => c.list(ConfigMap), /may list configmaps in all namespaces/],
    ['another name', (c) => c.get(Secret, { ...secret, name: 'x' }), /may get secrets x .*only for the names key/],
    ['a watch of any name', (c) => c.watch(Secret, { namespace: 'a' }), /may watch secrets in namespace a/],
    [
      'a patch',
      (c) => c.patch(Secret, secret, { type: 'merge', body: {} }),
      /may patch secrets key in namespace a: declare \.owns\(Secret\), \.applies\(Secret\) or \.ensures\(Secret\)/,
    ],
    ['a creation', (c) => c.create(Secret, { metadata: secret }), /may create secrets in namespace a/],
    [
      'a POST of a kind that is created by name',
      (c) => c.create(Pod, { metadata: { ...secret, name: 'a' } }),
      /only for the names a\): add allow\(\['create'\], Pod\).*cannot restrict createOnce/,
    ],
    ['an update', (c) => c.update(Secret, { metadata: secret }), /add allow\(\['update'\], Secret\)/],
    ['a deletion', (c) => c.delete(Secret, secret), /\.owns\(Secret, \{ remove: true \}\)/],
    ['deleting many', (c) => c.deleteCollection(Secret, { namespace: 'a' }), /\['deletecollection'\], Secret/],
    [
      'a subresource',
      (c) => c.patch(ConfigMap, secret, { type: 'merge', body: {} }, { subresource: 'status' }),
      /may patch configmaps\/status key .*allow\(\['patch'\], ConfigMap, \{ subresource: 'status' \}\)/,
    ],
    ['a token', (c) => c.requestToken(secret), /serviceaccounts\/token/],
    [
      'a log',
      (c) => c.readText(Pod, secret, podLog()),
      /may get pods\/log key .*add allow\(\['get'\], Pod, \{ subresource: 'log' \}\)/,
    ],
    ['a stream of a log', (c) => c.streamText(Pod, secret, podLog({ follow: true })), /may get pods\/log/],
    [
      'an access review of another user',
      (c) => c.canSubject({ user: 'x' }, { verb: 'get', resource: 'pods' }),
      /subjectaccessreviews/,
    ],
    ['a raw path of objects', (c) => c.raw('/api/v1/namespaces/a/secrets'), /as a raw path/],
    ['a raw path of all objects', (c) => c.raw('/api/v1/secrets'), /as a raw path/],
    ['a raw path of a group’s objects', (c) => c.raw('/apis/apps/v1/deployments?limit=1'), /as a raw path/],
    ['a raw path with dot segments', (c) => c.raw('/openapi/../api/v1/secrets'), /as a raw path/],
    ['a raw path with encoded dot segments', (c) => c.raw('/openapi/%2e%2e/api/v1/secrets'), /as a raw path/],
    ['a watch of another name', (c) => c.watch(Secret, { fieldSelector: 'metadata.name=x' }), /may watch secrets x/],
    [
      'a watch of all names but one',
      (c) => c.watch(Secret, { fieldSelector: 'metadata.name!=key' }),
      /may watch secrets/,
    ],
    ['a token of another account', (c) => c.requestToken({ ...secret, name: 'b' }), /only for the names a/],
    [
      'a deletion by a key with additional members',
      (c) => c.delete(Secret, { ...secret, verb: 'get', subresource: undefined } as ObjectKey),
      /may delete secrets key/,
    ],
    [
      'a request that an added check would allow',
      (c) =>
        c
          .checked(() => {})
          .guarded({ assertMayWrite() {}, writeTimeoutMs: 1 })
          .delete(Secret, secret),
      /may delete secrets key/,
    ],
    ['a Lease elsewhere', (c) => c.onLeaseLane().create(Lease, { metadata: secret }), /only in the namespaces own/],
  ])('rejects %s without a request, and explains what to declare', async (_, call, text) => {
    const { server, client } = setUp();
    await expect(call(client)).rejects.toMatchObject({
      code: 'BOWLINE_UNDECLARED_PERMISSION',
      message: expect.stringMatching(text),
    });
    expect(server.requests).toEqual([]);
  });
});

describe('allow', () => {
  it.each([
    ['nothing', () => allow([], Secret), /at least one verb/],
    ['a wildcard verb', () => allow(['*'], Secret), /wildcards are not supported/],
    ['a wildcard subresource', () => allow(['get'], Secret, { subresource: '*' }), /wildcards are not supported/],
    ['a path below a subresource', () => allow(['get'], Secret, { subresource: 'proxy/x' }), /single path segment/],
    ['an empty name', () => allow(['get'], Secret, { names: [''] }), /is empty/],
    ['no names', () => allow(['get'], Secret, { names: [] }), /omit it to allow any name/],
    ['no namespaces', () => allow(['get'], Secret, { namespaces: [] }), /omit it to allow all namespaces/],
    ['namespaces of a cluster-scoped kind', () => allow(['get'], Node, { namespaces: ['a'] }), /cluster-scoped/],
    ['a creation by name', () => allow(['create'], Secret, { names: ['a'] }), /allow it separately, without names/],
  ])('refuses %s', (_, call, text) => {
    expect(call).toThrow(
      expect.objectContaining({ code: 'BOWLINE_PERMISSION_INVALID', message: expect.stringMatching(text) }),
    );
  });

  it('accepts names for the creation of a subresource, whose URL contains the name', () => {
    expect(allow(['create'], ServiceAccount, { names: ['a'], subresource: 'token' }).names).toEqual(['a']);
  });
});
