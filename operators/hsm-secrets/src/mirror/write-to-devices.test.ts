import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { TokenError, type TokenProblem } from '../token/token-error.ts';
import type { Devices } from './devices.ts';
import { readFromDevices } from './read-from-devices.ts';
import { devicesOf, TestDevice, valueAt } from './test-device.test-support.ts';
import { removeFromDevices, writeToDevices } from './write-to-devices.ts';

function setUp(count: number, change: Partial<Devices> = {}) {
  const clock = new VirtualClock();
  const devices = Array.from({ length: count }, (_, index) => {
    return new TestDevice(String.fromCharCode(65 + index), clock);
  });
  const view = devicesOf(devices, change);
  const direct = async (serial: string, value: string, version?: number) => {
    const device = devices.find((each) => each.serial === serial);
    await device?.service.write('db', { value: Buffer.from(value) }, {}, { version });
  };
  const write = (value: string, replaces?: number) => {
    const content = { data: { value: Buffer.from(value) }, metadata: { description: 'a database' } };
    return writeToDevices('db', content, view, { clock, replaces });
  };
  return {
    clock,
    devices,
    view,
    direct,
    write,
    away: (...serials: string[]) => {
      for (const device of devices) device.isUp = !serials.includes(device.serial);
    },
    values: () => Promise.all(devices.map((device) => valueAt(device, 'db'))),
    versions: async () => {
      return Promise.all(devices.map(async (device) => (await device.content()).get('db')?.version));
    },
  };
}

const CONTENT = { data: { value: Buffer.from('x') }, metadata: {} };

/** The same devices, some of which refuse writes. */
function refusing(view: Devices, reason: TokenProblem, ...serials: readonly string[]): Devices {
  const tokens = [...view.tokens].map(([serial, token]) => {
    const write = () => Promise.reject(new TokenError(reason, 'the device refuses it'));
    return [serial, serials.includes(serial) ? { ...token, write } : token] as const;
  });
  return { ...view, tokens: new Map(tokens) };
}

const problem = (expected: string) => expect.objectContaining({ problem: expected }) as TokenError;
const failed = ({ devices }: { devices: readonly { serial: string; error: unknown }[] }) =>
  devices.filter(({ error }) => error).map(({ serial }) => serial);

describe('a write', () => {
  it('has one more than the highest version, the same on every device', async () => {
    const { direct, write, values, versions } = setUp(3);
    await direct('B', 'old', 6);
    const outcome = await write('new');
    expect(outcome).toMatchObject({ version: 7, timestamp: '2026-01-01T00:00:00.000000Z', isAcknowledged: true });
    expect([failed(outcome), await values(), await versions()]).toEqual([[], ['new', 'new', 'new'], [7, 7, 7]]);
  });

  it('names the devices that do not have it', async () => {
    const { write, away, values } = setUp(3);
    away('B');
    const outcome = await write('new');
    expect([outcome.isAcknowledged, failed(outcome)]).toEqual([true, ['B']]);
    expect(outcome.devices[1]?.error?.message).toBe('the device is away');
    expect(await values()).toEqual(['new', undefined, 'new']);
  });

  it('is refused, with nothing written, if it could be outvoted later', async () => {
    const { write, away, values } = setUp(3);
    away('B', 'C');
    await expect(write('new')).rejects.toThrow(
      'cannot access the secret "db": 1 of 3 devices answered; device B: the device is away; retry later',
    );
    expect(await values()).toEqual([undefined, undefined, undefined]);
  });

  it('needs one of two devices, because the last write wins', async () => {
    const { write, away, values } = setUp(2);
    away('A');
    expect(await write('new')).toMatchObject({ isAcknowledged: true });
    expect(await values()).toEqual([undefined, 'new']);
    away('A', 'B');
    await expect(write('newer')).rejects.toEqual(problem('Unavailable'));
  });

  it('is not acknowledged if too few devices accept it', async () => {
    const { view, devices, clock } = setUp(3);
    const outcome = await writeToDevices('db', CONTENT, refusing(view, 'Full', 'B', 'C'), { clock });
    expect([outcome.isAcknowledged, failed(outcome)]).toEqual([false, ['B', 'C']]);
    expect(devices[0]?.calls).toEqual(['metadata db', 'write db']);
  });

  it('is not acknowledged by one of two devices if there was another write on the other', async () => {
    const { view, clock } = setUp(2);
    expect(await writeToDevices('db', CONTENT, refusing(view, 'VersionMismatch', 'B'), { clock })).toMatchObject({
      isAcknowledged: false,
    });
    expect(await writeToDevices('db', CONTENT, refusing(view, 'Full', 'B'), { clock })).toMatchObject({
      isAcknowledged: true,
    });
  });

  it('with the policy ReadOnly reaches no other device if the primary device refuses it', async () => {
    const { view, clock, values } = setUp(3, { policy: 'ReadOnly' });
    const outcome = await writeToDevices('db', CONTENT, refusing(view, 'Full', 'A'), { clock });
    expect([outcome.isAcknowledged, failed(outcome)]).toEqual([false, ['A', 'B', 'C']]);
    expect(await values()).toEqual([undefined, undefined, undefined]);
  });

  it('is refused if the version to replace is another one', async () => {
    const { direct, write } = setUp(2);
    await expect(write('new', 1)).rejects.toEqual(problem('VersionMismatch'));
    await direct('B', 'old', 4);
    await expect(write('new', 0)).rejects.toEqual(problem('VersionMismatch'));
    await expect(write('new', 3)).rejects.toThrow('the secret "db" has version 4; read it again');
    expect(await write('new', 4)).toMatchObject({ version: 5 });
  });

  it('at the same time as another one succeeds on one of them only', async () => {
    const { write, values } = setUp(3);
    const outcomes = await Promise.all([write('one'), write('two')]);
    const [first, second, third] = await values();
    expect([first, second]).toEqual([second, third]);
    expect(outcomes.filter(({ isAcknowledged }) => isAcknowledged)).toHaveLength(1);
  });

  it('counts as accepted by a device to which mirroring has already copied it', async () => {
    const { view, clock, values } = setUp(2);
    const token = view.tokens.get('B');
    if (!token) throw new Error('no device');
    const write: typeof token.write = async (path, data, metadata, options) => {
      await token.write(path, data, metadata, { ...options, replaces: undefined });
      return token.write(path, data, metadata, options);
    };
    const tokens = new Map(view.tokens).set('B', { ...token, write });
    const outcome = await writeToDevices('db', CONTENT, { ...view, tokens }, { clock });
    expect([outcome.isAcknowledged, failed(outcome)]).toEqual([true, []]);
    expect(await values()).toEqual(['x', 'x']);
  });

  it('reaches the primary device first with the policy ReadOnly, and is refused without it', async () => {
    const { write, away, values, devices } = setUp(3, { policy: 'ReadOnly' });
    expect(await write('one')).toMatchObject({ isAcknowledged: true });
    away('B', 'C');
    expect(await write('two')).toMatchObject({ isAcknowledged: true });
    away('A');
    await expect(write('three')).rejects.toEqual(problem('Unavailable'));
    expect(await values()).toEqual(['two', 'one', 'one']);
    expect(devices[1]?.calls).not.toContain('write three');
  });

  it('reaches only the primary device with the policy None', async () => {
    const { write, values } = setUp(2, { policy: 'None', primary: 'B' });
    expect(await write('x')).toMatchObject({ isAcknowledged: true, devices: [{ serial: 'B', error: undefined }] });
    expect(await values()).toEqual([undefined, 'x']);
  });

  it('is refused without any device', async () => {
    const { clock } = setUp(0);
    for (const policy of ['None', 'ReadOnly', 'Active'] as const)
      await expect(writeToDevices('db', CONTENT, devicesOf([], { policy }), { clock })).rejects.toThrow(
        'cannot access the secret "db": there is no device; retry later',
      );
  });
});

describe('a deletion', () => {
  it('leaves a tombstone on every device, also where the secret is missing', async () => {
    const { direct, view, clock, values, versions } = setUp(3);
    await direct('A', 'x', 3);
    expect(await removeFromDevices('db', undefined, view, { clock })).toMatchObject({
      version: 4,
      checksum: undefined,
      isAcknowledged: true,
    });
    expect([await values(), await versions()]).toEqual([
      ['deleted', 'deleted', 'deleted'],
      [4, 4, 4],
    ]);
  });

  it('is refused if there is no secret, but not if a device that may have it is away', async () => {
    const { view, clock, away, write } = setUp(2);
    await expect(removeFromDevices('db', undefined, view, { clock })).rejects.toEqual(problem('NotFound'));
    await write('x');
    await removeFromDevices('db', undefined, view, { clock });
    await expect(removeFromDevices('db', undefined, view, { clock })).rejects.toEqual(problem('NotFound'));
    away('A');
    await expect(removeFromDevices('db', undefined, view, { clock })).rejects.toEqual(problem('Unavailable'));
  });

  it('of a key keeps the others and the metadata', async () => {
    const { view, clock, devices } = setUp(2);
    const data = { a: Buffer.from('1'), b: Buffer.from('2') };
    await writeToDevices('db', { data, metadata: { description: 'd', labels: { x: 'y' } } }, view, { clock });
    expect(await removeFromDevices('db', 'a', view, { clock })).toMatchObject({ version: 2, isAcknowledged: true });
    await expect(removeFromDevices('db', 'a', view, { clock })).rejects.toThrow('the secret "db" has no key "a"');
    for (const device of devices)
      expect(await device.service.read('db')).toMatchObject({
        data: { b: Buffer.from('2') },
        metadata: { version: 2, description: 'd', labels: { x: 'y' } },
      });
  });
});

describe('a read', () => {
  const read = ({ view, clock }: Pick<ReturnType<typeof setUp>, 'view' | 'clock'>) =>
    readFromDevices('db', view, { clock }).then(({ data }) => data.value?.toString());

  it('returns what the devices agree on', async () => {
    const world = setUp(3);
    await world.direct('A', 'new', 9);
    await world.direct('B', 'old');
    await world.direct('C', 'old');
    expect(await read(world)).toBe('old');
    world.away('C');
    expect(await read(world)).toBe('new');
    world.away('A', 'C');
    expect(await read(world)).toBe('old');
  });

  it('returns the content of the primary device, or of another one while it is away', async () => {
    const world = setUp(2, { policy: 'ReadOnly' });
    await world.direct('A', 'primary');
    await world.direct('B', 'other', 9);
    expect(await read(world)).toBe('primary');
    world.away('A');
    expect(await read(world)).toBe('other');
  });

  it('does not find a secret only if enough devices have answered', async () => {
    const world = setUp(3);
    await expect(read(world)).rejects.toEqual(problem('NotFound'));
    world.away('A');
    await expect(read(world)).rejects.toEqual(problem('NotFound'));
    world.away('A', 'B');
    await expect(read(world)).rejects.toEqual(problem('Unavailable'));
  });

  it('does not find a deleted secret', async () => {
    const world = setUp(2);
    await world.write('x');
    await removeFromDevices('db', undefined, world.view, { clock: world.clock });
    await expect(read(world)).rejects.toEqual(problem('NotFound'));
  });
});
