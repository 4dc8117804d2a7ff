import type { HSMDevice } from '../api/hsm-device.ts';
import type { FoundDevice, HostRoots } from './found-device.ts';
import { scanDevicePath } from './scan-device-path.ts';
import { scanUsb } from './scan-usb.ts';

/**
 * scan searches this node for the devices of an HSMDevice. A device that is found in two ways is listed once. It
 * throws an error that names the folder if the node cannot be searched.
 */
export async function scan(
  spec: Pick<HSMDevice['spec'], 'discovery'>,
  roots: HostRoots,
): Promise<readonly FoundDevice[]> {
  const { autoDiscovery, usb = [], devicePath } = spec.discovery ?? { autoDiscovery: true };
  const found = new Map<string, FoundDevice>();
  if (autoDiscovery || usb.length > 0)
    for (const device of await scanUsb({ autoDiscovery, usb }, roots.sysfs)) found.set(device.devicePath, device);
  if (devicePath)
    for (const device of await scanDevicePath(devicePath, roots.dev))
      if (!found.has(device.devicePath)) found.set(device.devicePath, device);
  return [...found.values()].sort((a, b) => (a.devicePath < b.devicePath ? -1 : 1));
}
