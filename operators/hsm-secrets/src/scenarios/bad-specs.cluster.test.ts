import { afterAll, beforeAll, expect, it } from 'vitest';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

let c: HsmCluster;
beforeAll(async () => {
  c = await hsmCluster({ nodes: 0 });
});
afterAll(() => c[Symbol.asyncDispose]());

it.each<readonly [field: string, spec: Readonly<Record<string, unknown>>]>([
  ['spec.deviceType', { deviceType: undefined }],
  ['spec.discovery.usb[0].vendorId', { discovery: { usb: [{ vendorId: 'zzzz', productId: '4230' }] } }],
  ['spec.maxDevices', { maxDevices: 0 }],
  ['spec.maxDevices', { maxDevices: 1025 }],
  ['spec.gracePeriod', { gracePeriod: 'abc' }],
  ['spec.gracePeriod', { gracePeriod: '2s' }],
  ['spec.gracePeriod', { gracePeriod: '25h' }],
  ['spec.discovery', { discovery: {} }],
  ['spec.pkcs11.libraryPath', { pkcs11: { libraryPath: '/lib/a.so' } }],
  ['spec.pkcs11.autoProvision', { pkcs11: { autoProvision: true } }],
])('scenario 03 refuses an HSMDevice, and names %s of %j', async (field, spec) => {
  await expect(c.createDevice('bad', spec)).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(field),
  });
});

it('scenario 03 refuses the name of an HSMDevice that is too long for its objects', async () => {
  await expect(c.createDevice('a'.repeat(41))).rejects.toThrow('metadata.name must be a DNS label of at most 40');
});

it('scenario 03 refuses another HSMDevice for an existing pool', async () => {
  const metadata = { namespace: c.namespace, name: 'by-hand' };
  await c.admin.create(HSMPool, { metadata, spec: { hsmDeviceRef: 'a' } });
  const body = { spec: { hsmDeviceRef: 'b' } };
  await expect(c.admin.patch(HSMPool, metadata, { type: 'merge', body })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('spec.hsmDeviceRef'),
  });
});

it.each<readonly [field: string, spec: object]>([
  ['spec.path', { path: 'a/../b' }],
  ['spec.path', { path: 'a//b' }],
  ['spec.path', { path: 'a/_metadata' }],
  ['spec.syncInterval', { syncInterval: 4 }],
])('scenario 03 refuses an HSMSecret, and names %s of %j', async (field, spec) => {
  const metadata = { namespace: c.namespace, name: 'bad' };
  await expect(c.admin.create(HSMSecret, { metadata, spec })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(field),
  });
});
