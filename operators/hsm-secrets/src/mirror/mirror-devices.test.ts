import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { mirrorDevices } from './mirror-devices.ts';
import { devicesOf, TestDevice, valueAt } from './test-device.test-support.ts';

const DAY_MS = 86_400_000;
const WRITE_MS = 120_000;

function setUp(count: number) {
  const clock = new VirtualClock();
  const devices = Array.from({ length: count }, (_, index) => {
    return new TestDevice(String.fromCharCode(65 + index), clock);
  });
  const write = async (device: TestDevice | undefined, path: string, value: string, version?: number) => {
    await device?.service.write(path, { value: Buffer.from(value) }, { description: `of ${value}` }, { version });
  };
  const values = (path: string) => Promise.all(devices.map((device) => valueAt(device, path)));
  return { clock, devices, write, values };
}

describe('a round', () => {
  it('repairs the one of three devices that differs', async () => {
    const { clock, devices, write, values } = setUp(3);
    for (const device of devices) await write(device, 'db', 'right');
    await write(devices[2], 'db', 'wrong');
    await clock.advance(WRITE_MS);
    const result = await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual(['right', 'right', 'right']);
    expect(result).toMatchObject({ synced: 1, purged: 0, conflicts: 1, errors: [], errorCount: 0, unreachable: [] });
    expect(result.inSync).toEqual(['A', 'B', 'C']);
    expect(result.paths.get('db')).toMatchObject({ found: 'Diverged', consistency: 'Consistent', hasConflict: true });
  });

  it('copies the higher version between two devices, with its version, time and metadata', async () => {
    const { clock, devices, write, values } = setUp(2);
    await write(devices[0], 'db', 'old');
    await write(devices[1], 'db', 'new', 5);
    await clock.advance(1_000);
    await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual(['new', 'new']);
    const [a, b] = await Promise.all(devices.map((device) => device.service.metadata('db')));
    expect(a).toEqual({ ...b, createdAt: a?.createdAt });
    expect(a).toMatchObject({ version: 5, description: 'of new' });
  });

  it('passes a tombstone on, also to a device that never had the secret, and purges it after a day', async () => {
    const { clock, devices, write, values } = setUp(3);
    await write(devices[0], 'db', 'x');
    await write(devices[1], 'db', 'x');
    await devices[1]?.service.remove('db', undefined);
    await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual(['deleted', 'deleted', 'deleted']);
    await clock.advance(DAY_MS - 1);
    expect(await mirrorDevices(devicesOf(devices), { clock })).toMatchObject({ purged: 0 });
    await clock.advance(1);
    expect(await mirrorDevices(devicesOf(devices), { clock })).toMatchObject({ purged: 3, errorCount: 0 });
    expect(await values('db')).toEqual([undefined, undefined, undefined]);
  });

  it('keeps tombstones while a device is away', async () => {
    const { clock, devices, write, values } = setUp(2);
    for (const device of devices) await write(device, 'db', 'x');
    await devices[0]?.service.remove('db', undefined);
    Object.assign(devices[1] ?? {}, { isUp: false });
    await clock.advance(2 * DAY_MS);
    const away = await mirrorDevices(devicesOf(devices), { clock });
    expect(away).toMatchObject({ synced: 0, purged: 0, unreachable: ['B'], inSync: ['A'], errorCount: 1 });
    expect(away.paths.get('db')).toMatchObject({ found: 'Unknown', consistency: 'Unknown' });
    Object.assign(devices[1] ?? {}, { isUp: true });
    await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual(['deleted', 'deleted']);
    await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual([undefined, undefined]);
  });

  it('does not take a read error for an absent secret', async () => {
    const { clock, devices, write, values } = setUp(2);
    await write(devices[0], 'db', 'a', 2);
    await write(devices[1], 'db', 'b', 3);
    Object.assign(devices[1] ?? {}, { hasReadErrors: true });
    const { synced, errors } = await mirrorDevices(devicesOf(devices), { clock });
    expect([synced, errors]).toEqual([0, ['cannot list the secrets of device B: the device is away']]);
    expect(await values('db')).toEqual(['a', 'b']);
  });

  it('fills a new device with everything', async () => {
    const { clock, devices, write, values } = setUp(3);
    for (const path of ['a', 'b/c', 'd'])
      for (const device of devices.slice(0, 2)) await write(device, path, `value of ${path}`);
    expect(await mirrorDevices(devicesOf(devices), { clock })).toMatchObject({ synced: 3, conflicts: 0 });
    expect(await values('b/c')).toEqual(Array(3).fill('value of b/c'));
  });

  it('lists each device once, and reads values only to copy them', async () => {
    const { clock, devices, write } = setUp(3);
    for (const device of devices) await write(device, 'same', 'x');
    await write(devices[0], 'new', 'y');
    await mirrorDevices(devicesOf(devices), { clock });
    expect(devices.map(({ calls }) => calls)).toEqual([
      ['list ', 'read new'],
      ['list ', 'write new'],
      ['list ', 'write new'],
    ]);
  });

  it('leaves a secret that changes during the round to the next one', async () => {
    const { clock, devices, write, values } = setUp(2);
    await write(devices[0], 'db', 'newer', 5);
    await write(devices[1], 'db', 'older');
    const view = devicesOf(devices);
    const target = view.tokens.get('B');
    if (!target) throw new Error('no device');
    const list = async (prefix: string) => {
      const found = await target.list(prefix);
      await write(devices[1], 'db', 'newest', 6);
      return found;
    };
    const tokens = new Map(view.tokens).set('B', { ...target, list });
    const result = await mirrorDevices({ ...view, tokens }, { clock });
    expect(result).toMatchObject({ synced: 0, errorCount: 0 });
    expect(result.paths.get('db')).toMatchObject({ consistency: 'Diverged' });
    expect(await values('db')).toEqual(['newer', 'newest']);
    await mirrorDevices(devicesOf(devices), { clock });
    expect(await values('db')).toEqual(['newest', 'newest']);
  });

  it('copies nothing if the winner changes before it is read', async () => {
    const { clock, devices, write, values } = setUp(2);
    await write(devices[0], 'db', 'listed', 5);
    const view = devicesOf(devices);
    const source = view.tokens.get('A');
    if (!source) throw new Error('no device');
    const list = async (prefix: string) => {
      const found = await source.list(prefix);
      await write(devices[0], 'db', 'newer', 6);
      return found;
    };
    const tokens = new Map(view.tokens).set('A', { ...source, list });
    expect(await mirrorDevices({ ...view, tokens }, { clock })).toMatchObject({ synced: 0, errorCount: 0 });
    expect(await values('db')).toEqual(['newer', undefined]);
  });

  it('reads from another device if the first one cannot be read', async () => {
    const { clock, devices, write, values } = setUp(3);
    for (const device of devices.slice(0, 2)) await write(device, 'db', 'x');
    const view = devicesOf(devices);
    const first = view.tokens.get('A');
    if (!first) throw new Error('no device');
    const tokens = new Map(view.tokens).set('A', { ...first, read: () => Promise.reject(new Error('a value')) });
    expect(await mirrorDevices({ ...view, tokens }, { clock })).toMatchObject({ synced: 1, errors: [] });
    expect(await values('db')).toEqual(['x', 'x', 'x']);
  });

  it('continues with other secrets if a device is full, and reports at most 20 errors without values', async () => {
    const { clock, devices, write, values } = setUp(1);
    const small = new TestDevice('Z', clock, 2_000);
    for (let index = 0; index < 30; index++) await write(devices[0], `large/${index}`, 'secret'.repeat(500));
    await write(devices[0], 'small', 'x');
    const result = await mirrorDevices(devicesOf([...devices, small]), { clock });
    expect(result).toMatchObject({ synced: 1, errorCount: 30 });
    expect(result.errors).toHaveLength(20);
    expect(result.errors[0]).toMatch(/^cannot write the secret "large\/0" to device Z: /);
    expect(result.errors.join()).not.toContain('secretsecret');
    expect([await valueAt(small, 'small'), await values('small')]).toEqual(['x', ['x']]);
    expect(result.paths.get('large/0')).toMatchObject({ found: 'Diverged', consistency: 'Diverged' });
  });

  it('gives a version to a secret of another system when it is copied', async () => {
    const { clock, devices } = setUp(2);
    const [a] = devices;
    if (!a) throw new Error('no device');
    await a.service.write('db', { value: Buffer.from('x') }, {});
    const view = devicesOf(devices);
    const token = view.tokens.get('A');
    if (!token) throw new Error('no device');
    const list = async (prefix: string) =>
      (await token.list(prefix)).map((summary) => ({ ...summary, version: 0, timestamp: undefined }));
    const read = async (path: string) => {
      const secret = await token.read(path);
      return { ...secret, metadata: { ...secret.metadata, version: 0, timestamp: undefined } };
    };
    const tokens = new Map(view.tokens).set('A', { ...token, list, read });
    await clock.advance(1_000);
    expect(await mirrorDevices({ ...view, tokens }, { clock })).toMatchObject({ synced: 2, errors: [] });
    const [first, second] = await Promise.all(devices.map((device) => device.service.metadata('db')));
    expect([first?.version, first?.timestamp]).toEqual([1, '2026-01-01T00:00:01.000000Z']);
    expect([second?.version, second?.timestamp]).toEqual([1, '2026-01-01T00:00:01.000000Z']);
  });

  it('follows the primary device with the policy ReadOnly', async () => {
    const { clock, devices, write, values } = setUp(3);
    for (const device of devices) await write(device, 'db', 'other', 3);
    await write(devices[0], 'db', 'primary', 4);
    await write(devices[2], 'only-here', 'x');
    await clock.advance(WRITE_MS);
    await mirrorDevices(devicesOf(devices, { policy: 'ReadOnly' }), { clock });
    expect(await values('db')).toEqual(['primary', 'primary', 'primary']);
    expect(await values('only-here')).toEqual(['x', 'x', 'x']);
  });

  it('involves only the primary device with the policy None', async () => {
    const { clock, devices, write, values } = setUp(2);
    await write(devices[0], 'db', 'x');
    await devices[0]?.service.remove('db', undefined);
    await clock.advance(DAY_MS);
    expect(await mirrorDevices(devicesOf(devices, { policy: 'None' }), { clock })).toMatchObject({ purged: 1 });
    expect(devices[1]?.calls).toEqual([]);
    expect(await values('db')).toEqual([undefined, undefined]);
  });

  it('rejects when it is aborted', async () => {
    const { clock, devices, write } = setUp(2);
    await write(devices[0], 'db', 'x');
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(mirrorDevices(devicesOf(devices), { clock, signal })).rejects.toThrow('stopped');
    expect(devices[1]?.calls).toEqual([]);
  });
});
