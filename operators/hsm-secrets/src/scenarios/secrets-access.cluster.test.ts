import { Secret } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { DEVICE, type SecretsCluster, secretsCluster } from '../testing/secrets-cluster.test-support.ts';

const VALUE = 'hunter2-of-the-test';

async function untilReason(c: SecretsCluster, namespace: string, name: string, reason: string): Promise<HSMSecret> {
  return c.until(HSMSecret, { namespace, name }, (object) => findCondition(object, 'Synced')?.reason === reason);
}

it('scenario 34 reads a device of another namespace only as far as its access rules permit', async () => {
  await using c = await secretsCluster();
  const { admin, namespace } = c;
  const tenant = await c.createNamespace('tenant');
  const [device] = c.devices;
  await device?.write(`${tenant}/database`, { password: VALUE });
  await device?.write('shared/certificate', { certificate: VALUE });
  const deviceRef = { namespace, name: DEVICE };
  const create = (name: string, spec: object): Promise<HSMSecret> =>
    admin.create(HSMSecret, { metadata: { namespace: tenant, name }, spec: { deviceRef, ...spec } });
  await create('database', {});
  await create('shared', { path: 'shared/certificate' });
  await create('missing', { path: 'shared/missing' });
  const refused = await untilReason(c, tenant, 'shared', 'NotPermitted');
  const message = findCondition(refused, 'Synced')?.message ?? '';
  expect(message).toContain(`{"namespaces":["${tenant}"],"paths":["shared/certificate"]}`);
  expect(refused.status).toMatchObject({ syncStatus: 'Error' });
  expect(refused.status?.deviceSyncStatus).toBeUndefined();
  // The message is the same whether or not the path exists.
  const missing = await untilReason(c, tenant, 'missing', 'NotPermitted');
  expect(findCondition(missing, 'Synced')?.message).toBe(message.replaceAll('certificate', 'missing'));
  await untilReason(c, tenant, 'database', 'NotPermitted');
  expect(device?.calls).toEqual([]);

  const setAccess = (access: readonly object[]): Promise<unknown> =>
    admin.patch(HSMDevice, { namespace, name: DEVICE }, { type: 'merge', body: { spec: { access } } });
  await setAccess([{ namespaces: [tenant] }]);
  const own = await untilReason(c, tenant, 'database', 'Synced');
  expect(own.status).toMatchObject({ path: `${tenant}/database`, deviceRef });
  expect(findCondition(await admin.get(HSMSecret, { namespace: tenant, name: 'shared' }), 'Synced')?.reason).toBe(
    'NotPermitted',
  );
  await setAccess([{ namespaces: [`${tenant.slice(0, -1)}*`], paths: ['shared/*'] }]);
  await untilReason(c, tenant, 'shared', 'Synced');
  await untilReason(c, tenant, 'missing', 'NotFound');
  // The rule for its own paths is gone; what was delivered stays.
  await untilReason(c, tenant, 'database', 'NotPermitted');
  expect((await admin.get(Secret, { namespace: tenant, name: 'database' })).data).toEqual({
    password: Buffer.from(VALUE).toString('base64'),
  });
});

it('scenario 34 uses the default device in namespaces without one', async () => {
  const defaultDevice = { namespace: 'somewhere-else', name: DEVICE };
  await using c = await secretsCluster({ config: { defaultDevice } });
  const tenant = await c.createNamespace('tenant');
  await c.admin.create(HSMSecret, { metadata: { namespace: tenant, name: 'database' }, spec: {} });
  const pending = await untilReason(c, tenant, 'database', 'DeviceMissing');
  expect(findCondition(pending, 'Synced')?.message).toContain('somewhere-else/pico');
  expect(pending.status?.syncStatus).toBe('Pending');
});

it('scenario 35 delivers binary, empty and large values, and keys with dots', async () => {
  await using c = await secretsCluster();
  const { namespace, admin } = c;
  const [device] = c.devices;
  const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  await device?.write('binary', { 'key.with.dots': binary, empty: '', __proto__x: 'x' });
  await device?.write('large', { value: Buffer.alloc(1_048_576, 7) });
  await c.createSecret('binary');
  await c.createSecret('large');
  for (const name of ['binary', 'large']) {
    const { status } = await c.untilSynced(name);
    expect([name, status?.secretChecksum]).toEqual([name, status?.hsmChecksum]);
  }
  const stored = await admin.get(Secret, { namespace, name: 'binary' });
  expect(stored.data).toEqual({ 'key.with.dots': binary.toString('base64'), empty: '', __proto__x: 'eA==' });
  const large = await admin.get(Secret, { namespace, name: 'large' });
  expect(Buffer.from(large.data?.value ?? '', 'base64').equals(Buffer.alloc(1_048_576, 7))).toBe(true);
});

it('scenario 35 reports content that no Secret can hold', async () => {
  await using c = await secretsCluster();
  await c.devices[0]?.write('large', { value: Buffer.alloc(600_000, 7) });
  const twice = ['first', 'second'].map((to) => ({ from: 'value', to }));
  const cases: readonly [string, object, string, string][] = [
    ['too-large', { keys: twice }, 'TooLarge', '1200000 bytes'],
    ['no-key', { keys: [{ from: 'other', to: 'other' }] }, 'KeyInvalid', 'has no key other'],
    ['bad-key', { keys: [{ from: 'value', to: '..value' }] }, 'KeyInvalid', '..value'],
    [
      'same-key',
      { keys: [...twice, { from: 'value', to: 'first' }] },
      'KeyInvalid',
      'several entries for the key first',
    ],
    ['wrong-type', { secretType: 'kubernetes.io/tls' }, 'WriteRefused', 'spec.secretType'],
  ];
  for (const [name, spec] of cases) await c.createSecret(name, { path: 'large', ...spec });
  for (const [name, , reason, text] of cases) {
    const object = await c.untilSynced(name, reason, text);
    expect([name, object.status?.syncStatus]).toEqual([name, 'Error']);
    expect(await c.valuesOf(name)).toBeUndefined();
  }
});
