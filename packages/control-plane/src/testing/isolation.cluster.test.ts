import {
  ClusterRole,
  ConfigMap,
  Deployment,
  type KubernetesObject,
  Namespace,
  PersistentVolume,
  Pod,
  type Resource,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { admit, allow, controller, defineOperator, deny, installNamespace, keyed, validating } from '@bowline/runtime';
import { defineResource, s } from '@bowline/runtime/resource';
import { expect, it, vi } from 'vitest';
import { type Cluster, cluster } from './cluster.ts';
import { readContents, removeLeftovers } from './leftovers.ts';

const patience = { timeout: 20_000, interval: 20 };

it('shows an operator the namespaces that it names after a name of the test, and deletes them with the test', async () => {
  const seen = new Set<string>();
  const tenants = controller(ConfigMap, { name: 'tenants', labelSelector: 'tenant' }).reconcile(
    async ({ object, live }) => {
      const name = `tenant-${object.metadata?.name}`;
      if (!(await live.find(Namespace, { name }))) await live.create(Namespace, { metadata: { name } });
    },
  );
  const namespaces = keyed('namespaces')
    .watches(Namespace, { map: ({ metadata }) => [metadata?.name ?? ''] })
    .reconcile(({ key }) => void seen.add(key));
  const operator = defineOperator({
    name: 'tenants',
    domain: 'example.com',
    controllers: [tenants, namespaces],
    permissions: [allow(['create'], Namespace)],
  });
  await using bystander = await cluster({ prefix: 'bystander' });
  let made = '';
  {
    await using c = await cluster({ operators: [operator] });
    const name = c.uniqueName('acme');
    made = `tenant-${name}`;
    await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name, labels: { tenant: 'x' } } });
    await vi.waitFor(() => expect(seen).toContain(made), patience);
    expect(seen).not.toContain(bystander.namespace);
  }
  // The real namespace controller may take long to remove what the namespace contains.
  await bystander.untilList(Namespace, { fieldSelector: `metadata.name=${made}` }, (namespaces) =>
    namespaces.every(({ metadata }) => metadata?.deletionTimestamp !== undefined),
  );
});

it('hides cluster-scoped objects that are named after another test', async () => {
  const watching = (seen: Set<string>) =>
    defineOperator({
      name: 'roles',
      domain: 'example.com',
      controllers: [
        keyed('roles')
          .watches(ClusterRole, { view: 'metadata', map: ({ metadata }) => [metadata.name ?? ''] })
          .reconcile(({ key }) => void seen.add(key)),
      ],
    });
  const [first, second] = [new Set<string>(), new Set<string>()];
  await using a = await cluster({ operators: [watching(first)] });
  await using b = await cluster({ operators: [watching(second)] });
  const [ofA, ofB] = [a.uniqueName('role'), b.uniqueName('role')];
  for (const [c, name] of [
    [a, ofA],
    [b, ofB],
  ] as const) {
    await c.admin.create(ClusterRole, { metadata: { name }, rules: [] });
    c.onDispose(() => c.admin.delete(ClusterRole, { name }));
  }
  await vi.waitFor(() => expect([first.has(ofA), second.has(ofB)]).toEqual([true, true]), patience);
  expect([first.has(ofB), second.has(ofA)]).toEqual([false, false]);
  expect(first).toContain('cluster-admin');
});

const Realm = defineResource({
  group: 'isolation.test.bowline.dev',
  version: 'v1',
  kind: 'Realm',
  scope: 'Cluster',
  spec: s.object({ trustDomain: s.string() }),
  status: s.object({}),
});

/** Beacon is a kind of another project. */
const Beacon = defineResource({
  group: 'others.isolation.test.bowline.dev',
  version: 'v1',
  kind: 'Beacon',
  scope: 'Cluster',
  spec: s.object({}),
});

const work = installNamespace('work', () => 'realms', { labels: { 'example.com/work': 'yes' } });

/**
 * A cluster-scoped singleton, with a finalizer and a webhook that is called for all of them, a namespace with a fixed
 * name, and a kind of another project.
 */
function realms(seen: Set<string>) {
  return defineOperator({
    name: 'realms',
    domain: 'example.com',
    resources: [Realm],
    dependencies: [Beacon],
    namespaces: [work],
    controllers: [
      controller(Realm)
        .owns(ConfigMap, { namespaces: [work.name], names: ['realm'] })
        .applies(Beacon)
        .reconcile(async ({ object, apply }) => {
          const { trustDomain } = object.spec;
          await apply(ConfigMap, { metadata: { namespace: 'realms', name: 'realm' }, data: { trustDomain } });
          await apply(Beacon, { metadata: { name: 'beacon' }, spec: {} });
          seen.add(trustDomain);
        })
        // Never finishes: the leftovers of one test must not affect the next.
        .cleanup(() => ({ requeueAfterMs: 3_600_000 })),
    ],
    webhooks: [
      validating(Realm, { name: 'check', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(({ object }) =>
        object.spec.trustDomain === 'refused' ? deny('it is refused') : admit(),
      ),
    ],
  });
}

/** What tests of cluster-scoped kinds leave behind, with a namespace that they did not create for that. */
const LEFT: readonly (readonly [Resource<KubernetesObject>, string?])[] = [
  [ClusterRole],
  [CSIDriver],
  [PersistentVolume],
  [ValidatingWebhookConfiguration],
  [ConfigMap, 'default'],
  [Deployment, 'realms'],
  [ConfigMap, 'realms'],
];

const SPECS: Readonly<Record<string, object>> = {
  PersistentVolume: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: '/var/lib/left' },
  },
  Deployment: {
    selector: { matchLabels: { app: 'left' } },
    template: { metadata: { labels: { app: 'left' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
};

/** leaveObjects creates objects that no controller removes, and that nothing else in the test cluster knows. */
async function leaveObjects(c: Cluster): Promise<void> {
  for (const [kind, namespace] of LEFT) {
    const metadata = { namespace, name: 'left', finalizers: ['example.com/kept'] };
    await c.admin.create(kind, { metadata, spec: SPECS[kind.kind] } as KubernetesObject);
  }
  await c.untilList(Pod, { namespace: 'realms' }, (pods) => pods.length === 1);
}

async function objectsLeft(c: Cluster): Promise<readonly string[]> {
  const found = await Promise.all(LEFT.map(([kind, namespace]) => c.admin.find(kind, { namespace, name: 'left' })));
  const { items } = await c.admin.list(Pod, { namespace: 'realms' });
  return [...found, ...items].map((object) => object?.metadata?.name ?? '').filter(Boolean);
}

const realm = (trustDomain: string) => ({ metadata: { name: 'cluster' }, spec: { trustDomain } });

it('gives operators with cluster-scoped kinds a separate control plane, concurrently and one after the other', async () => {
  const [first, second] = [new Set<string>(), new Set<string>()];
  {
    const starting = [cluster({ operators: [realms(first)] }), cluster({ operators: [realms(second)] })] as const;
    await using a = await starting[0];
    await using b = await starting[1];
    expect((await a.admin.get(Namespace, { name: 'realms' })).metadata?.labels).toMatchObject({
      'example.com/work': 'yes',
    });
    await a.admin.create(Realm, realm('a.example'));
    await b.admin.create(Realm, realm('b.example'));
    await expect(a.admin.create(Realm, { ...realm('refused'), metadata: { name: 'other' } })).rejects.toThrow(
      'refused',
    );
    await vi.waitFor(() => expect([[...first], [...second]]).toEqual([['a.example'], ['b.example']]), patience);
    await leaveObjects(a);
    await leaveObjects(b);
  }
  await using c = await cluster({ operators: [realms(new Set())] });
  expect(await objectsLeft(c)).toEqual([]);
  expect((await c.admin.list(Realm)).items).toEqual([]);
  expect((await c.admin.list(Beacon)).items).toEqual([]);
  expect(await c.admin.find(ConfigMap, { namespace: 'realms', name: 'realm' })).toBeUndefined();
  expect((await c.admin.list(ValidatingWebhookConfiguration)).items).toHaveLength(1);
  await c.admin.create(Realm, realm('c.example'));
});

it('removes what a test left behind, with finalizers, and nothing else', async () => {
  await using c = await cluster({ isolation: 'control-plane' });
  await c.admin.create(Namespace, { metadata: { name: 'realms' } });
  await c.admin.create(ClusterRole, { metadata: { name: 'earlier' } });
  const before = await readContents(c.admin);
  await leaveObjects(c);
  await removeLeftovers(c.admin, before);
  expect(await objectsLeft(c)).toEqual([]);
  expect([...(await readContents(c.admin))].filter((each) => !before.has(each))).toEqual([]);
  expect(await c.admin.find(ClusterRole, { name: 'earlier' })).toBeDefined();
});

it('shares the control plane of the run among operators with only namespaced kinds, unless configured otherwise', async () => {
  await using shared = await cluster();
  await using own = await cluster({ isolation: 'control-plane' });
  await using other = await cluster({ isolation: 'shared' });
  expect(other.controlPlane.url).toBe(shared.controlPlane.url);
  expect(own.controlPlane.url).not.toBe(shared.controlPlane.url);
});
