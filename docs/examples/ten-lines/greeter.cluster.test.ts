import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Lease } from '@bowline/kubernetes';
import { permissionsOf } from '@bowline/runtime/install';
import { expect, it } from 'vitest';
import { greeter } from './greeter.ts';
import { Greeting } from './greeting.ts';

const wanted = (c: Cluster, spec: { name?: string } = {}) =>
  Greeting.withDefaults({ metadata: { namespace: c.namespace, name: 'a' }, spec });

it('writes the greeting, applies changes, repairs drift, and reports Ready', async () => {
  await using c = await cluster({ operators: [greeter], prefix: 'greeter' });
  await c.admin.create(Greeting, wanted(c));
  const first = await c.until(ConfigMap, { name: 'a' }, ({ data }) => data?.text === 'hello, world');
  const ready = await c.until(Greeting, { name: 'a' }, ({ status }) => status?.observedGeneration === 1);
  expect(ready.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True', reason: 'Reconciled' }]);
  expect(first.metadata?.ownerReferences).toMatchObject([{ kind: 'Greeting', uid: ready.metadata?.uid }]);

  await c.admin.patch(Greeting, ready.metadata as { name: string }, {
    type: 'merge',
    body: { spec: { name: 'moon' } },
  });
  await c.until(ConfigMap, { name: 'a' }, ({ data }) => data?.text === 'hello, moon');

  const key = { namespace: c.namespace, name: 'a' };
  await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { text: 'bye' } } });
  await c.until(ConfigMap, { name: 'a' }, ({ data }) => data?.text === 'hello, moon');
  await c.admin.delete(ConfigMap, key);
  await c.until(ConfigMap, { name: 'a' }, ({ metadata }) => metadata?.uid !== first.metadata?.uid);
});

it('does not change a foreign ConfigMap, and reports it', async () => {
  await using c = await cluster({ operators: [greeter], prefix: 'greeter' });
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'a' }, data: { precious: 'yes' } });
  await c.admin.create(Greeting, wanted(c));
  const { status } = await c.until(Greeting, { name: 'a' }, (greeting) => greeting.status?.conditions !== undefined);
  expect(status?.conditions?.[0]).toMatchObject({
    type: 'Ready',
    status: 'False',
    message: expect.stringContaining('is not ours'),
  });
  const { data } = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'a' });
  expect(data).toEqual({ precious: 'yes' });
});

it('holds a Lease, and writes nothing after a restart', async () => {
  await using c = await cluster({ operators: [greeter], prefix: 'greeter' });
  await c.admin.create(Greeting, wanted(c));
  const before = await c.until(Greeting, { name: 'a' }, ({ status }) => status?.conditions !== undefined);
  const child = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'a' });
  const lease = await c.admin.get(Lease, { namespace: c.managerNamespace, name: 'example-greeter' });
  expect(lease.spec?.holderIdentity).not.toBe('');

  await c.restart();
  await c.idle();
  const after = await c.admin.get(Greeting, { namespace: c.namespace, name: 'a' });
  expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  const same = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'a' });
  expect(same.metadata?.resourceVersion).toBe(child.metadata?.resourceVersion);
});

it('has exactly the permissions that are derived from its declarations', () => {
  expect(permissionsOf(greeter)).toEqual({
    cluster: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['example.com'], resources: ['greetings'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['example.com'], resources: ['greetings/finalizers'], verbs: ['update'] },
      { apiGroups: ['example.com'], resources: ['greetings/status'], verbs: ['patch'] },
    ],
    own: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['example-greeter'],
        verbs: ['get', 'update'],
      },
    ],
    namespaces: {},
  });
});
