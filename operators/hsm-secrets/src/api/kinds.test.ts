import { describe, expect, it } from 'vitest';
import { HSMDevice } from './hsm-device.ts';
import { HSMPool } from './hsm-pool.ts';
import { HSMSecret } from './hsm-secret.ts';

/** The HSMDevice of the seed document. */
const SEED = {
  apiVersion: 'hsm.j5t.io/v1alpha1',
  kind: 'HSMDevice',
  metadata: { name: 'pico-hsm', namespace: 'default' },
  spec: {
    deviceType: 'PicoHSM',
    discovery: { autoDiscovery: true },
    pkcs11: { libraryPath: '/usr/lib/libsc-hsm-pkcs11.so', slotId: 0, pinSecret: { name: 'pico-hsm-pin', key: 'pin' } },
  },
};

const device = (spec: object, name = 'pico') => ({
  ...SEED,
  metadata: { name, namespace: 'default' },
  spec: { deviceType: 'PicoHSM', ...spec },
});
const pool = (spec: object) => ({
  apiVersion: 'hsm.j5t.io/v1alpha1',
  kind: 'HSMPool',
  metadata: { name: 'pico-pool', namespace: 'default' },
  spec: { hsmDeviceRef: 'pico', ...spec },
});
const secret = (spec: object) => ({
  apiVersion: 'hsm.j5t.io/v1alpha1',
  kind: 'HSMSecret',
  metadata: { name: 'a', namespace: 'default' },
  spec,
});

const problems = (
  kind: { validate(object: unknown, options?: object): readonly object[] },
  object: object,
  old?: object,
) => kind.validate(object, { oldObject: old }) as readonly { readonly field: string; readonly message: string }[];

describe('an HSMDevice', () => {
  it('of the seed is valid', () => {
    expect(problems(HSMDevice, SEED)).toEqual([]);
    expect(HSMDevice.unknownFields(SEED)).toEqual([]);
  });

  it.each<readonly [string, object, RegExp]>([
    ['spec.deviceType', { deviceType: undefined }, /Required value/],
    ['spec.deviceType', { deviceType: '1' }, /should match/],
    [
      'spec.discovery.usb[0].vendorId',
      { discovery: { usb: [{ vendorId: 'zzzz', productId: '1234' }] } },
      /should match/,
    ],
    ['spec.maxDevices', { maxDevices: 0 }, /greater than or equal to 1/],
    ['spec.maxDevices', { maxDevices: 1_025 }, /less than or equal to 1024/],
    ['spec.gracePeriod', { gracePeriod: 'abc' }, /duration/],
    ['spec.gracePeriod', { gracePeriod: '2s' }, /3s/],
    ['spec.gracePeriod', { gracePeriod: '25h' }, /24h/],
    ['spec.discovery', { discovery: {} }, /nothing would be discovered; set autoDiscovery/],
    ['spec.pkcs11.libraryPath', { pkcs11: { libraryPath: '/x' } }, /set pinSecret, or remove libraryPath/],
    ['spec.pkcs11.autoProvision', { pkcs11: { autoProvision: true } }, /set pinSecret, or remove autoProvision/],
  ])('is refused for %s %j', (field, spec, message) => {
    const expected = { field, message: expect.stringMatching(message) as string };
    expect(problems(HSMDevice, device(spec))).toContainEqual(expect.objectContaining(expected));
  });

  it.each(['a'.repeat(41), 'a.b'])('is refused under the name %s', (name) => {
    expect(problems(HSMDevice, device({}, name))[0]?.message).toContain(
      'metadata.name must be a DNS label of at most 40',
    );
  });
});

describe('an HSMPool', () => {
  it('has a grace period of 5 minutes, and keeps its HSMDevice', () => {
    expect(HSMPool.withDefaults(pool({})).spec.gracePeriod).toBe('5m');
    expect(problems(HSMPool, pool({}), pool({}))).toEqual([]);
    expect(problems(HSMPool, pool({ hsmDeviceRef: 'other' }), pool({}))[0]).toMatchObject({
      field: 'spec.hsmDeviceRef',
    });
  });
});

describe('an HSMSecret', () => {
  it.each(['a', 'team/db.password', 'a/b/c-d_e'])('may have the path %s', (path) => {
    expect(problems(HSMSecret, secret({ path }))).toEqual([]);
  });

  it.each(['a/../b', 'a//b', '/a', 'a/', 'a/_metadata', '..', 'a..b'])('may not have the path %s', (path) => {
    expect(problems(HSMSecret, secret({ path })).map(({ field }) => field)).toContain('spec.path');
  });

  it('asks its device at most every 5 seconds', () => {
    expect(problems(HSMSecret, secret({ syncInterval: 4 }))[0]).toMatchObject({ field: 'spec.syncInterval' });
  });
});
