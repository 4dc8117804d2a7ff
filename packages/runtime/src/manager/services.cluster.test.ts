import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Secret, ServiceAccount } from '@bowline/kubernetes';
import { untilAborted } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { controller } from '../controller/builder.ts';
import { defineOperator } from '../operator/operator.ts';
import { rbacManifests } from '../operator/rbac-manifests.ts';
import type { ServiceContext } from '../operator/service.ts';
import { allow, OWN_NAMESPACE } from '../permissions/permission.ts';
import { Manager } from './manager.ts';

const waiting = { timeout: 30_000, interval: 50 };

/** startReplica runs an operator with a receiver, and returns what the receiver was started with. */
async function startReplica(c: Cluster, client: Client, identity: string) {
  let isOpen = false;
  let context: ServiceContext | undefined;
  let setUpClient: Client | undefined;
  const operator = defineOperator({
    name: 'receivers',
    domain: 'bowline.dev',
    permissions: [
      allow(['create', 'get'], ConfigMap, { namespaces: [OWN_NAMESPACE] }),
      // Declared, but this test does not grant it.
      allow(['create'], ServiceAccount, { namespaces: [OWN_NAMESPACE] }),
    ],
    setup: (given) => {
      setUpClient = given.client;
    },
    services: [
      {
        name: 'receiver',
        run: async (signal, _, given) => {
          context = given;
          given.readiness(() => ({ ok: isOpen, message: isOpen ? 'open' : 'closed' }));
          given.listensOn(8443);
          await untilAborted(signal);
        },
      },
      { name: 'poller', leaderOnly: true, run: (signal) => untilAborted(signal) },
    ],
  });
  const manager = new Manager({
    operators: [operator],
    clientFor: () => client,
    namespace: c.namespace,
    healthAddress: '127.0.0.1:0',
    metricsAddress: '0',
    leaderElection: { identity },
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  c.onDispose(async () => {
    stop.abort();
    await running;
  });
  await vi.waitFor(() => expect(context).toBeDefined(), waiting);
  const probe = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${manager.ports.health}${path}?verbose`);
    return [response.status, await response.text()] as const;
  };
  const open = (): void => {
    isOpen = true;
  };
  if (!context || !setUpClient) throw new Error('the receiver has not started');
  return { operator, manager, context, setUpClient, probe, open };
}

it('lets the service of a standby write what the operator declares, and nothing else', async () => {
  await using c = await cluster();
  const verbs = ['get', 'create', 'update'];
  const account = await c.serviceAccount({
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs },
      { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs },
    ],
  });
  const first = await startReplica(c, account.client, 'first');
  await vi.waitFor(() => expect(first.manager.status()).toMatchObject([{ state: 'leading' }]), waiting);
  const second = await startReplica(c, account.client, 'second');
  await vi.waitFor(
    () => expect(second.manager.status()).toMatchObject([{ state: 'standby', holder: 'first' }]),
    waiting,
  );
  const { client } = second.context;
  const metadata = { namespace: c.namespace, name: 'push' };

  // The client of setup still waits for leadership.
  const refused = second.setUpClient.create(ConfigMap, { metadata });
  await expect(refused).rejects.toMatchObject({ code: 'BOWLINE_NOT_LEADER' });
  await client.create(ConfigMap, { metadata, data: { by: 'second' } });
  const { data, metadata: stored } = await c.admin.get(ConfigMap, metadata);
  expect([data, stored?.managedFields?.[0]?.manager]).toEqual([{ by: 'second' }, 'bowline-receivers']);
  expect(second.manager.status()).toMatchObject([{ state: 'standby', holder: 'first' }]);

  // The account may do this, but the operator does not declare it: other namespaces, verbs and kinds.
  const undeclared = { code: 'BOWLINE_UNDECLARED_PERMISSION' };
  const elsewhere = await c.createNamespace('elsewhere');
  const inOther = client.create(ConfigMap, { metadata: { namespace: elsewhere, name: 'push' } });
  await expect(inOther).rejects.toMatchObject(undeclared);
  await expect(client.update(ConfigMap, { metadata: stored ?? {} })).rejects.toMatchObject(undeclared);
  await expect(client.create(Secret, { metadata })).rejects.toMatchObject(undeclared);
  // The operator declares this, but its account may not: the API server decides last.
  const ungranted = client.create(ServiceAccount, { metadata });
  await expect(ungranted).rejects.toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' });
  const rules = rbacManifests(second.operator, { namespace: c.namespace }).flatMap((each) =>
    'rules' in each ? (each.rules ?? []) : [],
  );
  expect(rules.filter(({ resources }) => !resources?.includes('leases'))).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] },
  ]);
});

it('shows the state and port of services, and includes their readiness in that of the replica', async () => {
  await using c = await cluster();
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] };
  const account = await c.serviceAccount({ rules: [leases] });
  const { manager, probe, open } = await startReplica(c, account.client, 'only');
  await vi.waitFor(
    () =>
      expect(manager.status()[0]?.services).toEqual([
        { name: 'receiver', state: 'running', port: 8443 },
        { name: 'poller', state: 'running', port: undefined },
      ]),
    waiting,
  );
  expect(await probe('/readyz')).toEqual([
    503,
    expect.stringContaining('[-]service-receivers-receiver failed: closed'),
  ]);
  // The process has started, whatever its services are waiting for.
  expect(await probe('/startupz')).toEqual([200, expect.stringContaining('[+]operator-receivers ok')]);
  open();
  expect(await probe('/readyz')).toEqual([200, expect.stringContaining('[+]service-receivers-receiver ok: open')]);
});

it('lets the service of a standby read what a controller of the operator watches, with its watch', async () => {
  await using c = await cluster();
  const added: string[][] = [];
  const undeclared: unknown[] = [];
  const labelSelector = `bowline.dev/test=${c.namespace}`;
  const operatorOf = (seen: string[]) =>
    defineOperator({
      name: 'readers',
      domain: 'bowline.dev',
      controllers: [controller(ConfigMap, { namespaces: [c.namespace], labelSelector }).reconcile(() => {})],
      services: [
        {
          name: 'reader',
          run: async (signal, _, { informer }) => {
            const maps = informer(ConfigMap, { labelSelector });
            await maps.synced(signal);
            using _changes = maps.subscribe(({ key, type }) => seen.push(`${type} ${maps.get(key)?.data?.of}`));
            try {
              informer(Secret);
            } catch (error) {
              undeclared.push(error);
            }
            await untilAborted(signal);
          },
        },
      ],
    });
  const verbs = ['get', 'list', 'watch', 'create', 'update'];
  const account = await c.serviceAccount({
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs },
      { apiGroups: [''], resources: ['configmaps'], verbs },
    ],
  });
  for (const identity of ['first', 'second']) {
    const seen: string[] = [];
    added.push(seen);
    const manager = new Manager({
      operators: [operatorOf(seen)],
      clientFor: () => account.client,
      namespace: c.namespace,
      healthAddress: '0',
      metricsAddress: '0',
      leaderElection: { identity },
    });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    c.onDispose(async () => {
      stop.abort();
      await running;
    });
    await vi.waitFor(() => expect(manager.status()).toMatchObject([{ holder: 'first' }]), waiting);
  }
  const labels = { 'bowline.dev/test': c.namespace };
  const metadata = { namespace: c.namespace, name: 'shared', labels };
  await c.admin.create(ConfigMap, { metadata, data: { of: 'all replicas' } });
  await vi.waitFor(() => expect(added).toEqual([['add all replicas'], ['add all replicas']]), waiting);
  expect(undeclared).toMatchObject([{ code: 'BOWLINE_SOURCE_UNDECLARED' }, { code: 'BOWLINE_SOURCE_UNDECLARED' }]);
  const watches = (await c.controlPlane.audit()).filter(
    ({ verb, user, objectRef }) =>
      verb === 'watch' && objectRef?.resource === 'configmaps' && user.username?.endsWith(`:${account.name}`),
  );
  expect(new Set(watches.map(({ auditID }) => auditID)).size).toBe(2);
});
