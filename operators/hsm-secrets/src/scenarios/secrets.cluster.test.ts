import { Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { findCondition } from '@bowline/runtime';
import { describe, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { DEVICE, secretsCluster } from '../testing/secrets-cluster.test-support.ts';
import { checksumOf } from '../token/checksum.ts';
import { TokenError } from '../token/token-error.ts';

const data = { username: 'admin', password: 'hunter2-of-the-test' };
const checksum = checksumOf({ username: Buffer.from(data.username), password: Buffer.from(data.password) });

describe('delivery', () => {
  it('scenario 29 writes a Secret with owner, labels, annotations and equal checksums', async () => {
    await using c = await secretsCluster();
    const { namespace } = c;
    await c.devices[0]?.write('database', data, { description: 'the database', source: 'test' });
    await c.createSecret('database');
    const object = await c.untilSynced('database');
    expect(object.status).toMatchObject({
      syncStatus: 'InSync',
      hsmChecksum: checksum,
      secretChecksum: checksum,
      secretRef: { namespace, name: 'database' },
      deviceRef: { namespace, name: DEVICE },
      path: 'database',
      primaryDevice: 'S1',
      deviceSyncStatus: [{ deviceName: 'S1', checksum, version: 1, status: 'InSync', online: true }],
    });
    expect(object.metadata?.finalizers).toEqual(['hsmsecret.hsm.j5t.io/finalizer']);
    for (const type of ['Ready', 'Synced', 'DevicesConsistent'])
      expect([type, findCondition(object, type)?.status]).toEqual([type, 'True']);
    const secret = await c.until(
      Secret,
      { name: 'database' },
      ({ metadata }) => metadata?.ownerReferences !== undefined,
    );
    expect(secret).toMatchObject({
      type: 'Opaque',
      metadata: {
        labels: {
          'app.kubernetes.io/name': 'hsm-secrets-operator',
          'app.kubernetes.io/managed-by': 'bowline-hsm-secrets',
          'hsm.j5t.io/device': DEVICE,
          'hsm.j5t.io/path-hash': expect.stringMatching(/^[0-9a-f]{32}$/),
        },
        annotations: {
          'hsm.j5t.io/path': 'database',
          'hsm.j5t.io/description': 'the database',
          'hsm.j5t.io/source': 'test',
        },
        ownerReferences: [{ kind: 'HSMSecret', name: 'database', uid: object.metadata?.uid, controller: true }],
      },
    });
    expect(await c.valuesOf('database')).toEqual(data);
    await c.untilEvent('database', 'SecretSynced', 'delivered database to the Secret database');
    const { items: events } = await c.admin.list(Event, { namespace });
    for (const value of [data.password, Buffer.from(data.password).toString('base64')])
      expect(JSON.stringify([object, events])).not.toContain(value);
  });

  it('scenario 29 renames keys, and takes the given name, type, path and device', async () => {
    await using c = await secretsCluster();
    await c.createDevice('other', { suspend: true });
    await c.devices[0]?.write('apps/shop.db', data);
    await c.createSecret('shop', { deviceRef: { name: DEVICE }, path: 'apps/shop.db' });
    await c.createSecret('basic', {
      deviceRef: { name: DEVICE },
      path: 'apps/shop.db',
      secretName: 'login.credentials',
      secretType: 'kubernetes.io/basic-auth',
      keys: [
        { from: 'password', to: 'password' },
        { from: 'username', to: 'user.name' },
      ],
    });
    await c.untilSynced('basic');
    expect(await c.valuesOf('login.credentials')).toEqual({
      password: data.password,
      'user.name': data.username,
    });
    const secret = await c.admin.get(Secret, { namespace: c.namespace, name: 'login.credentials' });
    expect(secret.type).toBe('kubernetes.io/basic-auth');
    await c.untilSynced('shop');
    await c.createSecret('unclear');
    await c.untilSynced('unclear', 'DeviceAmbiguous', 'other, pico');
  });

  it('scenario 29 does not touch the HSMSecret of another operator', async () => {
    await using c = await secretsCluster();
    await c.devices[0]?.write('ours', data);
    await c.createSecret('theirs', { path: 'ours', parentRef: { name: 'another-operator', namespace: 'hsm-system' } });
    const parentRef = { name: 'bowline-hsm-secrets', namespace: c.managerNamespace };
    await c.createSecret('ours', { parentRef });
    await c.untilSynced('ours');
    await c.advanceTime(120_000);
    const { namespace } = c;
    const theirs = await c.admin.get(HSMSecret, { namespace, name: 'theirs' });
    expect([theirs.metadata?.finalizers, theirs.status]).toEqual([undefined, undefined]);
    expect(await c.valuesOf('theirs')).toBeUndefined();
    expect(await c.eventsOf('theirs')).toEqual([]);
    await c.admin.delete(HSMSecret, { namespace, name: 'theirs' });
    await c.untilGone(HSMSecret, { name: 'theirs' });
  });
});

describe('changes', () => {
  it('scenario 30 are delivered within the interval; otherwise there is one call of the device, no read and no write', async () => {
    await using c = await secretsCluster();
    const [device] = c.devices;
    if (!device) throw new Error('there is no device');
    for (const name of ['a', 'b', 'c']) {
      await device.write(name, { ...data, name });
      await c.createSecret(name);
    }
    for (const name of ['a', 'b', 'c']) await c.untilSynced(name);
    await c.advanceTime(60_000);
    const before = await c.admin.get(HSMSecret, { namespace: c.namespace, name: 'a' });
    const since = Date.now();
    device.calls.length = 0;
    await c.advanceTime(90_000);
    expect(device.calls).toEqual(Array.from({ length: 3 }, () => 'checksums a,b,c'));
    expect((await c.writes(since)).filter((write) => /secrets/.test(write))).toEqual([]);
    await device.write('b', { username: 'other' });
    device.calls.length = 0;
    await c.advanceTime(30_000);
    expect(device.calls).toEqual(['checksums a,b,c', 'read b']);
    // A key that was removed on the device is removed from the Secret.
    expect(await c.valuesOf('b')).toEqual({ username: 'other' });
    const changed = await c.until(
      HSMSecret,
      { name: 'b' },
      ({ status }) => status?.hsmChecksum !== before.status?.hsmChecksum,
    );
    expect(changed.status?.hsmChecksum).toBe(changed.status?.secretChecksum);
    const unchanged = await c.admin.get(HSMSecret, { namespace: c.namespace, name: 'a' });
    expect(unchanged.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  });

  it('scenario 30 of the Secret are repaired, and it is recreated', async () => {
    await using c = await secretsCluster();
    const { namespace, admin } = c;
    await c.devices[0]?.write('database', data);
    await c.createSecret('database');
    await c.untilSynced('database');
    const key = { namespace, name: 'database' };
    const edit = { data: { password: Buffer.from('edited').toString('base64'), extra: 'AA==' } };
    await admin.patch(Secret, key, { type: 'merge', body: edit });
    await c.until(Secret, key, ({ data: stored }) => stored?.extra === undefined);
    expect(await c.valuesOf('database')).toEqual(data);
    await admin.patch(Secret, key, {
      type: 'merge',
      body: { metadata: { labels: { 'hsm.j5t.io/device': 'edited' } } },
    });
    await c.until(Secret, key, ({ metadata }) => metadata?.labels?.['hsm.j5t.io/device'] === DEVICE);
    const { metadata } = await admin.get(Secret, key);
    await admin.delete(Secret, key);
    await c.until(Secret, key, (secret) => secret.metadata?.uid !== metadata?.uid);
    expect(await c.valuesOf('database')).toEqual(data);
  });

  it('scenario 30 are delivered once without autoSync, and then only on request', async () => {
    await using c = await secretsCluster();
    const { namespace, admin } = c;
    const [device] = c.devices;
    await device?.write('database', data);
    await c.createSecret('database', { autoSync: false });
    await c.untilSynced('database');
    await device?.write('database', { username: 'other' });
    if (device) device.calls.length = 0;
    await c.advanceTime(240_000, 30_000);
    expect(await c.valuesOf('database')).toEqual(data);
    expect(device?.calls).toEqual([]);
    const key = { namespace, name: 'database' };
    await admin.delete(Secret, key);
    const lost = await c.untilSynced('database', 'OutOfSync', 'hsm.j5t.io/force-sync');
    expect(lost.status?.syncStatus).toBe('OutOfSync');
    const annotations = { 'hsm.j5t.io/force-sync': 'now' };
    await admin.patch(HSMSecret, key, { type: 'merge', body: { metadata: { annotations } } });
    const synced = await c.untilSynced('database');
    expect(synced.status?.lastHandledForceSync).toBe('now');
    expect(await c.valuesOf('database')).toEqual({ username: 'other' });
    await device?.write('database', data);
    await admin.patch(HSMSecret, key, {
      type: 'merge',
      body: { metadata: { annotations: { 'hsm.j5t.io/force-sync': 'again' } } },
    });
    await c.until(HSMSecret, key, ({ status }) => status?.lastHandledForceSync === 'again');
    expect(await c.valuesOf('database')).toEqual(data);
  });

  it('of the name move the Secret, and its type cannot be changed', async () => {
    await using c = await secretsCluster();
    const { namespace, admin } = c;
    await c.devices[0]?.write('database', data);
    await c.createSecret('database');
    await c.untilSynced('database');
    const key = { namespace, name: 'database' };
    await admin.patch(HSMSecret, key, { type: 'merge', body: { spec: { secretName: 'moved' } } });
    await c.untilGone(Secret, key);
    await c.until(Secret, { name: 'moved' }, () => true);
    await admin.patch(HSMSecret, key, { type: 'merge', body: { spec: { secretType: 'example.com/other' } } });
    const refused = await c.untilSynced('database', 'WriteRefused', 'delete the Secret');
    expect(refused.status?.syncStatus).toBe('Error');
    expect(await c.valuesOf('moved')).toEqual(data);
    await admin.delete(Secret, { namespace, name: 'moved' });
    await c.advanceTime(30_000);
    await c.untilSynced('database');
    expect((await admin.get(Secret, { namespace, name: 'moved' })).type).toBe('example.com/other');
  });
});

it('scenario 31 neither overwrites nor deletes a Secret of another owner', async () => {
  await using c = await secretsCluster();
  const { namespace, admin } = c;
  const key = { namespace, name: 'database' };
  await admin.create(Secret, { metadata: key, data: { mine: 'AA==' } });
  await c.devices[0]?.write('database', data);
  await c.createSecret('database');
  const refused = await c.untilSynced('database', 'ForeignSecret', 'spec.secretName');
  expect(refused.status?.syncStatus).toBe('Error');
  await c.untilEvent('database', 'SyncFailed', 'ForeignSecret');
  expect(c.devices[0]?.calls).toEqual([]);
  // Nor the Secret of another HSMSecret.
  await c.createSecret('first', { path: 'database', secretName: 'shared' });
  await c.untilSynced('first');
  await c.createSecret('second', { path: 'database', secretName: 'shared' });
  await c.untilSynced('second', 'ForeignSecret', 'the HSMSecret first');
  for (const name of ['database', 'second']) {
    await admin.delete(HSMSecret, { namespace, name });
    await c.untilGone(HSMSecret, { name });
  }
  expect((await admin.get(Secret, key)).data).toEqual({ mine: 'AA==' });
  expect(await c.valuesOf('shared')).toEqual(data);
});

it('scenario 32 reports missing devices and failures, and keeps the Secret meanwhile', async () => {
  await using c = await secretsCluster();
  const { namespace } = c;
  const [device] = c.devices;
  if (!device) throw new Error('there is no device');
  await c.createSecret('early', { deviceRef: { name: 'missing' } });
  expect((await c.untilSynced('early', 'DeviceMissing')).status?.syncStatus).toBe('Pending');
  await device.write('database', data);
  await c.createSecret('database');
  await c.untilSynced('database');
  device.failure = new TokenError('PINLocked', 'the token is locked');
  await c.advanceTime(30_000);
  const failed = await c.untilSynced('database', 'AgentFailed', 'the token is locked');
  expect(failed.status).toMatchObject({
    syncStatus: 'Error',
    lastError: expect.stringContaining('the token is locked'),
    hsmChecksum: checksum,
    deviceSyncStatus: [{ deviceName: 'S1', status: 'Error', online: false }],
  });
  expect(findCondition(failed, 'DevicesConsistent')?.reason).toBe('Unknown');
  device.failure = undefined;
  await c.advanceTime(30_000);
  const recovered = await c.untilSynced('database');
  expect(recovered.status?.lastError).toBeUndefined();
  await device.remove('database');
  await c.advanceTime(30_000);
  await c.untilSynced('database', 'NotFound', 'S1');
  await device.write('database', data);
  await c.advanceTime(30_000);
  await c.untilSynced('database');
  c.agents.stop({ namespace, name: DEVICE }, device);
  expect((await c.untilSynced('database', 'NoAgent')).status?.syncStatus).toBe('Pending');
  expect(await c.valuesOf('database')).toEqual(data);
  c.agents.add({ namespace, name: DEVICE }, 'S1', device.token);
  await c.untilSynced('database');
  await c.admin.delete(HSMDevice, { namespace, name: DEVICE });
  await c.untilSynced('database', 'DeviceMissing');
  expect(await c.valuesOf('database')).toEqual(data);
});

it('scenario 33 deletes the Secret, or leaves it to the user, without any agent', async () => {
  await using c = await secretsCluster();
  const { namespace, admin } = c;
  const [device] = c.devices;
  if (!device) throw new Error('there is no device');
  await device.write('database', data);
  await c.createSecret('deleted', { path: 'database' });
  await c.createSecret('retained', { path: 'database', deletionPolicy: 'Retain' });
  await c.createSecret('orphaned', { path: 'database' });
  const names = ['deleted', 'retained', 'orphaned'];
  for (const name of names) await c.untilSynced(name);
  c.agents.stop({ namespace, name: DEVICE }, device);
  for (const name of names) await c.untilSynced(name, 'NoAgent');
  for (const name of names) {
    const propagationPolicy = name === 'orphaned' ? 'Orphan' : 'Background';
    await admin.delete(HSMSecret, { namespace, name }, { propagationPolicy });
    await c.untilGone(HSMSecret, { name });
  }
  await c.untilGone(Secret, { name: 'deleted' });
  for (const name of ['retained', 'orphaned']) {
    expect(await c.valuesOf(name)).toEqual(data);
    const { metadata } = await admin.get(Secret, { namespace, name });
    expect([metadata?.labels, metadata?.annotations, metadata?.ownerReferences]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  }
});
