import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { FoundDevice } from './found-device.ts';

type UsbMatch = NonNullable<NonNullable<HSMDevice['spec']['discovery']>['usb']>[number];

/** UsbDiscovery selects USB devices. */
export interface UsbDiscovery {
  /** Whether every device with a smart card interface is found. */
  readonly autoDiscovery: boolean;
  /** Further devices; one match is enough. */
  readonly usb: readonly UsbMatch[];
}

/** The USB class of smart card readers (CCID). */
const SMART_CARD = '0b';
const MAX_SERIAL_LENGTH = 128;
const MAX_INFO_LENGTH = 256;

/** scanUsb returns the USB devices that sysfs lists and the discovery selects. */
export async function scanUsb(discovery: UsbDiscovery, sysfs: string): Promise<readonly FoundDevice[]> {
  const folder = join(sysfs, 'bus/usb/devices');
  const names = await namesIn(folder, sysfs);
  // An interface has the name of its device, a colon, its configuration and its number.
  const devices = names.filter((name) => !name.includes(':'));
  const found = await Promise.all(
    devices.map((name) => {
      const interfaces = names.filter((each) => each.startsWith(`${name}:`));
      return readDevice(folder, name, interfaces, discovery);
    }),
  );
  return found.filter((device) => device !== undefined);
}

/** namesIn lists the USB devices. A node without a USB controller, such as a virtual machine, may not have the folder. */
async function namesIn(folder: string, sysfs: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && (await readdir(join(sysfs, 'bus')).catch(() => [])).length > 0) return [];
    const remedy = 'mount the /sys of the node, and give its path with --sysfs';
    throw new BowlineError('BOWLINE_HSM_SCAN', `cannot read the USB devices in ${folder}; ${remedy}`, { cause });
  }
}

async function readDevice(
  folder: string,
  name: string,
  interfaces: readonly string[],
  { autoDiscovery, usb }: UsbDiscovery,
): Promise<FoundDevice | undefined> {
  const attribute = (file: string): Promise<string | undefined> => readText(join(folder, name, file));
  const [vendorId, productId, serial, bus, device] = await Promise.all(
    ['idVendor', 'idProduct', 'serial', 'busnum', 'devnum'].map(attribute),
  );
  // A device that is being removed loses its files while they are read.
  if (!vendorId || !productId || !bus || !device) return undefined;
  const isWanted = usb.some((match) => matches(match, vendorId, productId, serial));
  if (!isWanted && !(autoDiscovery && (await hasSmartCard(folder, interfaces)))) return undefined;
  const [manufacturer, product] = await Promise.all(['manufacturer', 'product'].map(attribute));
  const info = { vendorId, productId, manufacturer, product };
  return {
    devicePath: `/dev/bus/usb/${bus.padStart(3, '0')}/${device.padStart(3, '0')}`,
    // Devices are told apart by their serial number, so a part of it is worse than none.
    serialNumber: serial && serial.length <= MAX_SERIAL_LENGTH ? serial : undefined,
    available: true,
    deviceInfo: Object.fromEntries(
      Object.entries(info).flatMap(([key, text]) => (text ? [[key, text.slice(0, MAX_INFO_LENGTH)]] : [])),
    ),
  };
}

function matches(match: UsbMatch, vendorId: string, productId: string, serial: string | undefined): boolean {
  const normal = (id: string): string => id.toLowerCase().replace(/^0x/, '');
  return (
    normal(match.vendorId) === normal(vendorId) &&
    normal(match.productId) === normal(productId) &&
    (match.serialNumber === undefined || match.serialNumber === serial)
  );
}

async function hasSmartCard(folder: string, interfaces: readonly string[]): Promise<boolean> {
  const classes = await Promise.all(interfaces.map((name) => readText(join(folder, name, 'bInterfaceClass'))));
  return classes.includes(SMART_CARD);
}

/** readText returns the content of a file; undefined if it does not exist or cannot be read any more. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch {
    return undefined;
  }
}
