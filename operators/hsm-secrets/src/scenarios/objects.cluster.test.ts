import { DaemonSet, NetworkPolicy, RoleBinding, Secret, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { type HsmCluster, hsmCluster, IMAGE } from '../testing/hsm-cluster.test-support.ts';

let c: HsmCluster;
beforeAll(async () => {
  c = await hsmCluster({ nodes: 1 });
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 01 creates everything that an HSMDevice needs, owned by it', async () => {
  const { namespace } = c;
  const device = await c.createDevice('pico-hsm', {
    discovery: { autoDiscovery: true },
    pkcs11: { libraryPath: '/usr/lib/libsc-hsm-pkcs11.so', slotId: 0, pinSecret: { name: 'pico-hsm-pin', key: 'pin' } },
  });
  const pool = await c.untilPool('pico-hsm', ({ phase }) => phase === 'Pending');
  expect(pool.spec).toEqual({ hsmDeviceRef: 'pico-hsm', gracePeriod: '5m' });
  const owner = { kind: 'HSMDevice', name: 'pico-hsm', uid: device.metadata?.uid, controller: true };
  const children = [
    pool,
    await c.until(DaemonSet, { name: 'pico-hsm-discovery' }, () => true),
    await c.until(ServiceAccount, { name: 'pico-hsm-discovery' }, () => true),
    await c.until(ServiceAccount, { name: 'pico-hsm-agent' }, () => true),
    await c.until(RoleBinding, { name: 'pico-hsm-discovery' }, () => true),
    await c.until(NetworkPolicy, { name: 'pico-hsm-agent' }, () => true),
    await c.until(Secret, { name: 'pico-hsm-agent-tls' }, () => true),
  ];
  for (const { metadata } of children) {
    expect(metadata?.ownerReferences).toEqual([expect.objectContaining(owner)]);
    expect(metadata?.labels).toMatchObject({
      'app.kubernetes.io/name': 'hsm-secrets-operator',
      'hsm.j5t.io/device': 'pico-hsm',
      'app.kubernetes.io/managed-by': 'bowline-hsm-secrets',
    });
  }
  const daemonSet = await c.admin.get(DaemonSet, { namespace, name: 'pico-hsm-discovery' });
  const [container] = daemonSet.spec?.template.spec?.containers ?? [];
  expect(container?.image).toBe(IMAGE);
  expect(container?.args?.slice(0, 4)).toEqual(['hsm-secrets', 'discovery', '--device', 'pico-hsm']);
  expect(container?.env?.map(({ name }) => name)).toEqual(['NODE_NAME', 'POD_NAME', 'POD_NAMESPACE']);
  await c.untilEvent('pico-hsm', 'PoolCreated');
  expect(findCondition(pool, 'ReportsGuarded')?.reason).toBe('Guarded');
});

it('scenario 02 restores what others change or delete, and keeps the grace period of a user', async () => {
  const { namespace, admin } = c;
  await c.createDevice('mended');
  await c.untilPool('mended', ({ phase }) => phase !== undefined);
  const key = (name: string) => ({ namespace, name });
  const first = await c.until(DaemonSet, key('mended-discovery'), () => true);
  await admin.delete(ServiceAccount, key('mended-agent'));
  await c.until(ServiceAccount, key('mended-agent'), ({ metadata }) => metadata?.deletionTimestamp === undefined);
  const label = { metadata: { labels: { 'hsm.j5t.io/device': 'other' } } };
  await admin.patch(RoleBinding, key('mended-discovery'), { type: 'merge', body: label });
  await c.until(
    RoleBinding,
    key('mended-discovery'),
    ({ metadata }) => metadata?.labels?.['hsm.j5t.io/device'] === 'mended',
  );

  await admin.patch(HSMPool, key('mended-pool'), { type: 'merge', body: { spec: { gracePeriod: '7m' } } });
  const nodeSelector = { ...(first.spec?.template.spec?.nodeSelector ?? {}), 'example.test/zone': 'a' };
  await admin.patch(HSMDevice, key('mended'), { type: 'merge', body: { spec: { nodeSelector } } });
  const changed = await c.until(DaemonSet, key('mended-discovery'), ({ metadata }) => metadata?.generation === 2);
  expect(changed.spec?.template.spec?.nodeSelector).toEqual(nodeSelector);
  await c.until(Secret, key('mended-agent-tls'), () => true);
  await c.untilPool('mended', ({ expectedPods }) => expectedPods === 0);
  await c.idle();
  const since = Date.now();
  await c.restart();
  await c.idle();
  // A warning that still holds is sent once more; the server rejects it as a duplicate.
  expect((await c.writes(since)).filter((write) => !write.startsWith('create events'))).toEqual([]);
  expect((await c.pool('mended')).spec.gracePeriod).toBe('7m');

  await admin.patch(HSMDevice, key('mended'), { type: 'merge', body: { spec: { gracePeriod: '9m' } } });
  await c.until(HSMPool, key('mended-pool'), ({ spec }) => spec.gracePeriod === '9m');
});

it('scenario 02 removes discovery and keeps the pool while a device is suspended, and ignores paused devices', async () => {
  const { namespace, admin } = c;
  const key = { namespace, name: 'rested' };
  await c.createDevice('rested');
  await c.until(DaemonSet, { name: 'rested-discovery' }, () => true);
  await admin.patch(HSMDevice, key, { type: 'merge', body: { spec: { suspend: true } } });
  await c.untilGone(DaemonSet, { name: 'rested-discovery' });
  expect((await c.pool('rested')).metadata?.deletionTimestamp).toBeUndefined();
  const pause = { metadata: { annotations: { 'bowline.dev/paused': 'true' } }, spec: { suspend: false } };
  await admin.patch(HSMDevice, key, { type: 'merge', body: pause });
  await c.createDevice('fence');
  await c.until(DaemonSet, { name: 'fence-discovery' }, () => true);
  expect(await admin.find(DaemonSet, { namespace, name: 'rested-discovery' })).toBeUndefined();
  await admin.patch(HSMDevice, key, {
    type: 'merge',
    body: { metadata: { annotations: { 'bowline.dev/paused': null } } },
  });
  await c.until(DaemonSet, { name: 'rested-discovery' }, () => true);
});
