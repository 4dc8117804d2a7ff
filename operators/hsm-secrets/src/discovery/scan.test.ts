import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { createHostTree, type UsbDevice } from './host-tree.test-support.ts';
import { scan } from './scan.ts';
import { fixedPart } from './scan-device-path.ts';

const PICO: UsbDevice = {
  vendorId: '20a0',
  productId: '4230',
  serial: 'DC6A33145E23A42A',
  bus: 1,
  device: 15,
  manufacturer: 'Pol Henarejos',
  product: 'Pico HSM',
};
const KEYBOARD: UsbDevice = { vendorId: '046d', productId: 'c31c', bus: 1, device: 3, classes: ['03', '03'] };

const specOf = (discovery?: object) => HSMDevice.withDefaults({ spec: { deviceType: 'PicoHSM', discovery } }).spec;

describe('scenario 41 USB devices', () => {
  it('with a smart card interface are found by default', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', PICO);
    await host.plug('1-2', KEYBOARD);
    await host.write('sys/bus/usb/devices/usb1/bDeviceClass', '09\n');
    expect(await scan(specOf(), host)).toEqual([
      {
        devicePath: '/dev/bus/usb/001/015',
        serialNumber: 'DC6A33145E23A42A',
        available: true,
        deviceInfo: { vendorId: '20a0', productId: '4230', manufacturer: 'Pol Henarejos', product: 'Pico HSM' },
      },
    ]);
    expect(await scan(specOf({ autoDiscovery: true }), host)).toHaveLength(1);
  });

  it('are found by vendor, product and serial number', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', PICO);
    await host.plug('1-2', { ...PICO, serial: 'OTHER', device: 16 });
    await host.plug('1-3', KEYBOARD);
    const found = async (...usb: object[]) => (await scan(specOf({ usb }), host)).map(({ devicePath }) => devicePath);
    expect(await found({ vendorId: '0x20A0', productId: '4230' })).toHaveLength(2);
    expect(await found({ vendorId: '20a0', productId: '4230', serialNumber: 'OTHER' })).toEqual([
      '/dev/bus/usb/001/016',
    ]);
    expect(await found({ vendorId: '20a0', productId: '9999' }, { vendorId: '046D', productId: 'C31C' })).toEqual([
      '/dev/bus/usb/001/003',
    ]);
  });

  it('appear, get another path and disappear', async () => {
    await using host = await createHostTree();
    const paths = async () => (await scan(specOf(), host)).map(({ devicePath }) => devicePath);
    expect(await paths()).toEqual([]);
    await host.plug('1-1', PICO);
    expect(await paths()).toEqual(['/dev/bus/usb/001/015']);
    await host.unplug('1-1');
    await host.plug('1-1', { ...PICO, device: 21 });
    expect(await paths()).toEqual(['/dev/bus/usb/001/021']);
    await host.unplug('1-1');
    expect(await paths()).toEqual([]);
  });

  it('whose files disappear while they are read are skipped', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', PICO);
    await host.plug('1-2', { ...PICO, serial: 'OTHER', device: 16 });
    await host.remove('sys/bus/usb/devices/1-1/devnum');
    expect((await scan(specOf(), host)).map(({ serialNumber }) => serialNumber)).toEqual(['OTHER']);
  });

  it('without a usable serial number have none', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', { ...PICO, serial: 'x'.repeat(129) });
    await host.plug('1-2', { ...PICO, serial: ' ', device: 16, product: 'y'.repeat(300) });
    const found = await scan(specOf(), host);
    expect(found.map(({ serialNumber }) => serialNumber)).toEqual([undefined, undefined]);
    expect(found[1]?.deviceInfo.product).toBe('y'.repeat(256));
  });

  it('do not exist on a node without USB', async () => {
    await using host = await createHostTree();
    await host.remove('sys/bus/usb');
    await host.write('sys/bus/pci/devices/0000:00:01.0/class', '');
    expect(await scan(specOf(), host)).toEqual([]);
  });

  it('cannot be read without sysfs, which the error names', async () => {
    await using host = await createHostTree();
    await expect(scan(specOf(), { ...host, sysfs: '/nothing' })).rejects.toThrow(
      'cannot read the USB devices in /nothing/bus/usb/devices; mount the /sys of the node, and give its path with --sysfs',
    );
  });
});

describe('scenario 41 device nodes', () => {
  it('are found by their path, and need their permission bits', async () => {
    await using host = await createHostTree();
    await host.write('dev/ttyACM0', '', 0o660);
    await host.write('dev/ttyACM1', '', 0o600);
    await host.write('dev/hsm/a/token', '', 0o666);
    const found = async (devicePath: object) =>
      (await scan(specOf({ devicePath }), host)).map((device) => [device.devicePath, device.available]);
    expect(await found({ path: '/dev/ttyACM?' })).toEqual([
      ['/dev/ttyACM0', true],
      ['/dev/ttyACM1', true],
    ]);
    expect(await found({ path: '/dev/ttyACM*', permissions: '060' })).toEqual([
      ['/dev/ttyACM0', true],
      ['/dev/ttyACM1', false],
    ]);
    expect(await found({ path: '/dev/hsm/**' })).toEqual([['/dev/hsm/a/token', true]]);
    expect(await found({ path: '/dev/none/*' })).toEqual([]);
  });

  it('are links to nodes, as far as these exist', async () => {
    await using host = await createHostTree();
    await host.write('dev/ttyACM0', '');
    await host.write('dev/serial/by-id/file', '');
    await symlink('../../ttyACM0', join(host.dev, 'serial/by-id/usb-Pico'));
    await symlink('../../ttyACM1', join(host.dev, 'serial/by-id/usb-Removed'));
    expect(await scan(specOf({ devicePath: { path: '/dev/serial/by-id/usb-*' } }), host)).toMatchObject([
      { devicePath: '/dev/serial/by-id/usb-Pico', available: true },
    ]);
  });

  it('with a path that no report can hold are skipped', async () => {
    await using host = await createHostTree();
    await host.write(`dev/${`${'x'.repeat(250)}/`.repeat(5)}z`, '');
    await host.write('dev/short', '');
    expect((await scan(specOf({ devicePath: { path: '/dev/**' } }), host)).map(({ devicePath }) => devicePath)).toEqual(
      ['/dev/short'],
    );
  });

  it('cannot be found in a folder that cannot be read, which the error names', async () => {
    await using host = await createHostTree();
    await expect(scan(specOf({ devicePath: { path: '/dev/*' } }), { ...host, dev: '/nothing' })).rejects.toThrow(
      'cannot read /nothing; mount the /dev of the node, and give its path with --dev',
    );
    // A name that no file system accepts fails in another way than a missing folder.
    await expect(scan(specOf({ devicePath: { path: `/dev/${'x'.repeat(300)}/*` } }), host)).rejects.toMatchObject({
      code: 'BOWLINE_HSM_SCAN',
    });
  });

  it.each([
    ['/dev/ttyACM0', '/dev'],
    ['/dev/hsm/*/token', '/dev/hsm'],
    ['/dev/**', '/dev'],
    ['/dev/bus/usb/0?1/*', '/dev/bus/usb'],
  ])('of %s are searched in %s', (path, folder) => {
    expect(fixedPart(path)).toBe(folder);
  });
});
