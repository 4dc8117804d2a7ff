import { isDeepStrictEqual } from 'node:util';
import {
  type Condition,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  Pod,
  type Resource,
  Secret,
} from '@bowline/kubernetes';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { temporaryFiles } from '../../../../apps/bowline/src/testing/child-process.test-support.ts';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS, MANAGER } from '../api/names.ts';
import { runMigration } from '../migration/migrate.ts';
import { SAVED_SPEC } from '../migration/older-device.ts';
import {
  installOlderDefinitions,
  type OlderShape,
  olderAgent,
  olderDiscovery,
  olderManager,
} from '../migration/older-objects.test-support.ts';
import type { Step } from '../migration/step.ts';
import { hsmSecrets } from '../operator.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

const USB = { vendorId: '20a0', productId: '4230' };
const PATIENCE = { timeout: 30_000, interval: 50 };
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const registry = { 'hsm-secrets': { summary: 'HSM', load: () => Promise.resolve(hsmSecrets) } };

let c: HsmCluster;

beforeAll(async () => {
  // Other tests must not be affected by the older definitions.
  c = await hsmCluster({ nodes: 1, isolation: 'control-plane' });
  // Whatever happens, the cleanup needs all definitions.
  c.onDispose(() => takeOver(c));
}, 120_000);

afterAll(() => c[Symbol.asyncDispose](), 120_000);

it.each<[OlderShape, string, number]>([
  ['status', 'HSMDevices with a status and no pools', 4],
  ['pool', 'pools that name no HSMDevice', 5],
])(
  'scenario 44 an older operator is replaced, also if the migration is killed: %s: %s',
  async (shape, _, all) => {
    await using files = await temporaryFiles();
    const { admin, namespace } = c;
    const user = await c.serviceAccount({ clusterRules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
    const kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig(user.identity)));
    const username = `system:serviceaccount:${user.namespace}:${user.name}`;
    const migrate = (...args: string[]) =>
      bowline(['hsm-secrets', 'migrate', ...args, '--kubeconfig', kubeconfig, '-n', c.managerNamespace], { registry });
    const planOf = async (...args: string[]): Promise<readonly string[]> => {
      const { out, err } = await migrate(...args, '-o', 'json');
      expect(err).toBe('');
      return (JSON.parse(out) as Step[]).map(({ state, object }) => `${state} ${object}`);
    };
    const writesSince = async (time: number): Promise<number> =>
      (await c.controlPlane.audit(time)).filter((event) => event.user.username === username && WRITES.has(event.verb))
        .length;

    await c.stop();
    await installOlderDefinitions(admin, shape);
    // One namespace for each write after which the migration is killed.
    const killed: string[] = [];
    for (let writes = 0; writes <= all; writes += 1) killed.push(await c.createNamespace(`killed-${writes}`));
    for (const each of [namespace, ...killed]) await createOlderObjects(c, shape, each);
    const delivered = await admin.get(Secret, { namespace, name: 'database' });
    const manager = await admin.create(Deployment, olderManager(c.managerNamespace));
    const managerName = `${c.managerNamespace}/${manager.metadata?.name}`;

    // The older operator runs: nothing is written.
    const start = Date.now();
    expect((await planOf())[0]).toBe(`blocked Deployment ${managerName}`);
    const refused = await migrate('--run');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      `kubectl scale deployment hsm-controller-manager -n ${c.managerNamespace} --replicas=0`,
    );
    expect((await planOf('--dry-run', '--delete-old')).some((step) => /^(?:planned|waiting)/.test(step))).toBe(false);
    expect(await writesSince(start)).toBe(0);
    const scale = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
    await admin.patch(Deployment, { namespace: c.managerNamespace, name: 'hsm-controller-manager' }, scale);
    await c.until(
      Deployment,
      { namespace: c.managerNamespace, name: 'hsm-controller-manager' },
      ({ status }) => (status?.replicas ?? 0) === 0,
    );

    // The definitions are those of the older operator: only the fields that they will hide are saved.
    const saved = await migrate('--run');
    expect(saved.code).toBe(1);
    expect(saved.err).toContain('kubectl apply --server-side --force-conflicts');
    const annotations = (await admin.get(HSMDevice, { namespace, name: 'pico' })).metadata?.annotations;
    expect(JSON.parse(annotations?.[SAVED_SPEC] ?? '')).toEqual({ usb: [USB], libraryPath: '/usr/lib/pkcs11.so' });
    expect((await planOf()).filter((step) => step.startsWith('blocked CustomResourceDefinition'))).toHaveLength(3);

    await takeOver(c);
    for (const [writes, each] of killed.entries()) {
      const end = new AbortController();
      let sent = 0;
      const client = user.client.checked(({ verb }) => {
        if (!WRITES.has(verb)) return;
        if (sent === writes) end.abort();
        end.signal.throwIfAborted();
        sent += 1;
      });
      const options = { client, managerNamespace: c.managerNamespace, namespaces: [each], deleteOld: true };
      const run = runMigration({ ...options, signal: end.signal });
      if (writes < all) await expect(run).rejects.toThrow('abort');
      else await run;
      expect(sent).toBe(writes);
      // Nothing is deleted before the pool is Ready.
      expect(await admin.find(Deployment, { namespace: each, name: 'hsm-agent-pico-s1' })).toBeDefined();
    }
    const again = await migrate('--run');
    expect(again.err).toContain(`done: HSMPool ${namespace}/pico-pool`);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('parentRefs')]);
    for (const each of [namespace, ...killed]) await expectMigrated(c, each);

    // Run again: nothing is left but what people do.
    const second = Date.now();
    expect(await planOf('--dry-run')).toEqual(await planOf());
    expect((await migrate('--run')).err).not.toContain('done:');
    expect(await writesSince(second)).toBe(0);

    // The new operator continues: its discovery replaces the older one, and agents stay until its pool is Ready.
    await c.restart();
    expect(await planOf('--delete-old')).toContain(`waiting Deployment ${namespace}/hsm-agent-pico-s1`);
    await vi.waitFor(async () => {
      await c.advanceTime(1_000);
      const { items } = await admin.list(Pod, {
        namespace,
        labelSelector: `${LABELS.device}=pico,${LABELS.component}=discovery`,
      });
      expect(items.map(({ metadata }) => metadata?.labels?.[LABELS.managedBy])).toEqual([MANAGER]);
    }, PATIENCE);
    await c.report(await c.discoveryPod('pico', c.nodes[0] ?? ''), ['S1']);
    // The phase may still be that of the older operator.
    await c.untilPool('pico', ({ conditions }) => conditions?.some((each) => isTrue(each, 'Ready')) ?? false);
    expect(await planOf()).toContain(`optional Deployment ${namespace}/hsm-agent-pico-s1`);
    expect((await migrate('--run', '--delete-old', '--namespaces', namespace)).err).toContain(
      `done: Deployment ${namespace}/hsm-agent-pico-s1`,
    );
    await c.untilGone(Deployment, { name: 'hsm-agent-pico-s1' });

    // The Secret of the older operator was never touched.
    const after = await admin.get(Secret, { namespace, name: 'database' });
    expect(after.metadata?.resourceVersion).toBe(delivered.metadata?.resourceVersion);

    // The next shape begins without these objects.
    await admin.delete(Deployment, { namespace: c.managerNamespace, name: 'hsm-controller-manager' });
    for (const each of [namespace, ...killed]) {
      await admin.deleteCollection(HSMDevice, { namespace: each });
      await admin.deleteCollection(HSMSecret, { namespace: each });
    }
    for (const [resource, name] of [
      [DaemonSet, 'pico-discovery'],
      [HSMPool, 'pico-pool'],
      [Secret, 'database'],
    ] as const)
      await c.untilGone<KubernetesObject>(resource, { name });
  },
  240_000,
);

function isTrue(condition: Condition, type: string): boolean {
  return condition.type === type && condition.status === 'True';
}

async function createOlderObjects(c: HsmCluster, shape: OlderShape, namespace: string): Promise<void> {
  const { admin } = c;
  const spec = {
    deviceType: 'PicoHSM',
    discovery: { autoDiscovery: false, usb: USB },
    nodeSelector: { 'example.test/cluster': namespace === c.namespace ? namespace : 'none' },
    pkcs11: { slotId: 0, pinSecret: { name: 'pin', key: 'pin' } },
    pkcs11LibraryPath: '/usr/lib/pkcs11.so',
    maxDevices: 10,
  };
  const create = <T extends KubernetesObject>(resource: Resource<T>, object: object): Promise<T> =>
    // The API server serves a new definition only after a moment. The objects are not valid today.
    vi.waitFor(async () => {
      const dry = await admin.create(resource, object as T, { dryRun: true });
      const { spec: stored } = dry as { readonly spec?: Record<string, unknown> };
      const { spec: wanted } = object as { readonly spec?: Record<string, unknown> };
      expect(isDeepStrictEqual(stored, wanted)).toBe(true);
      return await admin.create(resource, object as T);
    }, PATIENCE);
  const device = await create(HSMDevice, { metadata: { namespace, name: 'pico' }, spec });
  const { uid = '' } = device.metadata ?? {};
  if (shape === 'status') {
    const status = { phase: 'Ready', totalDevices: 1, discoveredDevices: [{ serialNumber: 'S1' }] };
    const body = { status };
    await admin.patch(HSMDevice, { namespace, name: 'pico' }, { type: 'merge', body }, { subresource: 'status' });
  } else {
    const owner = { apiVersion: 'hsm.j5t.io/v1alpha1', kind: 'HSMDevice', name: 'pico', uid, controller: true };
    const metadata = { namespace, name: 'pico-pool', ownerReferences: [owner] };
    await create(HSMPool, { metadata, spec: { gracePeriod: '7m0s' } });
    const status = {
      phase: 'Ready',
      totalDevices: 1,
      availableDevices: 1,
      reportingPods: [{ podName: 'x', fresh: true }],
    };
    const body = { status };
    await admin.patch(HSMPool, { namespace, name: 'pico-pool' }, { type: 'merge', body }, { subresource: 'status' });
  }
  await admin.create(DaemonSet, olderDiscovery(device));
  await admin.create(Deployment, olderAgent(namespace, 'pico', 's1'));
  const parentRef = { name: 'hsm-controller-manager', namespace: c.managerNamespace };
  const secret = await create(HSMSecret, {
    metadata: { namespace, name: 'database' },
    spec: { parentRef, autoSync: true, syncInterval: 30 },
  });
  const owner = {
    apiVersion: 'hsm.j5t.io/v1alpha1',
    kind: 'HSMSecret',
    name: 'database',
    uid: secret.metadata?.uid ?? '',
  };
  const data = { password: Buffer.from('canary').toString('base64') };
  await admin.create(Secret, { metadata: { namespace, name: 'database', ownerReferences: [owner] }, data });
}

/** takeOver applies the definitions as the plan recommends. */
async function takeOver({ admin }: HsmCluster): Promise<void> {
  for (const { crd } of [HSMDevice, HSMPool, HSMSecret]) {
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...crd };
    const key = { name: crd.metadata?.name ?? '' };
    const apply = { type: 'apply', force: true, body } as const;
    await vi.waitFor(() => admin.patch(CustomResourceDefinition, key, apply, { fieldManager: 'kubectl' }), PATIENCE);
  }
  await installCustomResourceDefinitions(admin, [HSMDevice, HSMPool, HSMSecret]);
  // Until the API server uses them, it returns the members that they hide.
  await vi.waitFor(async () => {
    const { items } = await admin.list(HSMDevice);
    for (const { spec } of items) expect(spec).not.toHaveProperty('pkcs11LibraryPath');
  }, PATIENCE);
}

async function expectMigrated({ admin }: HsmCluster, namespace: string): Promise<void> {
  const device = await admin.get(HSMDevice, { namespace, name: 'pico' });
  expect(device).toMatchObject({
    spec: {
      discovery: { usb: [USB] },
      pkcs11: { libraryPath: '/usr/lib/pkcs11.so', pinSecret: { name: 'pin', key: 'pin' } },
    },
  });
  expect(device).not.toHaveProperty('status');
  expect(device.metadata?.annotations ?? {}).not.toHaveProperty(SAVED_SPEC);
  // A server that cannot convert the older form removes all of them.
  expect(JSON.stringify(device.metadata?.managedFields ?? [])).not.toContain('f:status');
  const pool = await admin.get(HSMPool, { namespace, name: 'pico-pool' });
  expect(pool.spec.hsmDeviceRef).toBe('pico');
  expect(pool.metadata?.ownerReferences).toMatchObject([{ kind: 'HSMDevice', name: 'pico', controller: true }]);
  // The garbage collector releases its pods before it is gone.
  await vi.waitFor(async () => {
    expect(await admin.find(DaemonSet, { namespace, name: 'pico-discovery' })).toBeUndefined();
  }, PATIENCE);
  expect(await admin.find(Deployment, { namespace, name: 'hsm-agent-pico-s1' })).toBeDefined();
}
