import { describe, expect, it } from 'vitest';
import type { HSMDevice } from '../api/hsm-device.ts';
import { type DeviceKey, pathOf, resolveDevice } from './resolve-device.ts';
import { deviceOf, secretOf } from './sample-objects.test-support.ts';

function known(devices: readonly HSMDevice[], defaultDevice?: DeviceKey) {
  return {
    get: ({ namespace, name }: DeviceKey) =>
      devices.find(({ metadata }) => metadata?.namespace === namespace && metadata?.name === name),
    in: (namespace: string) => devices.filter(({ metadata }) => metadata?.namespace === namespace),
    defaultDevice,
  };
}

const own = deviceOf('apps', 'own');
const second = deviceOf('apps', 'another');
const central = deviceOf('hsm', 'central');
const CENTRAL = { namespace: 'hsm', name: 'central' };

describe('the HSMDevice of an HSMSecret', () => {
  it('is the named one, in its own namespace by default', () => {
    const devices = known([own, second, central]);
    expect(resolveDevice(secretOf({ deviceRef: { name: 'own' } }), devices)).toBe(own);
    expect(resolveDevice(secretOf({ deviceRef: CENTRAL }), devices)).toBe(central);
    expect(resolveDevice(secretOf({ deviceRef: { name: 'central' } }), devices)).toMatchObject({
      reason: 'DeviceMissing',
      message: 'the HSMDevice apps/central does not exist; create it, or set spec.deviceRef to another one',
    });
  });

  it('is the only one of the namespace, and not the default', () => {
    expect(resolveDevice(secretOf(), known([own, central], CENTRAL))).toBe(own);
  });

  it('is not chosen among several, which are named', () => {
    expect(resolveDevice(secretOf(), known([own, second, central], CENTRAL))).toMatchObject({
      reason: 'DeviceAmbiguous',
      message: 'the namespace apps has several HSMDevices (another, own); set spec.deviceRef to one of them',
    });
  });

  it('is the default in a namespace without one', () => {
    expect(resolveDevice(secretOf(), known([central], CENTRAL))).toBe(central);
    expect(resolveDevice(secretOf(), known([], CENTRAL))).toMatchObject({ reason: 'DeviceMissing' });
    expect(resolveDevice(secretOf(), known([central]))).toMatchObject({ reason: 'DeviceMissing', isPending: true });
  });
});

describe('the path', () => {
  it('is that of the spec, else the name, with the namespace on devices of other namespaces', () => {
    expect(pathOf(secretOf({ path: 'a/b' }), 'hsm')).toBe('a/b');
    expect(pathOf(secretOf(), 'apps')).toBe('database');
    expect(pathOf(secretOf(), 'hsm')).toBe('apps/database');
  });
});
