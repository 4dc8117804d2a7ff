import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostRoots } from './found-device.ts';

/** UsbDevice is a device in a generated sysfs. */
export interface UsbDevice {
  readonly vendorId: string;
  readonly productId: string;
  readonly serial?: string;
  readonly bus: number;
  readonly device: number;
  /** The classes of its interfaces. Defaults to that of a smart card reader. */
  readonly classes?: readonly string[];
  readonly manufacturer?: string;
  readonly product?: string;
}

/** HostTree is a generated part of the file systems of a node. */
export interface HostTree extends HostRoots, AsyncDisposable {
  readonly run: string;
  /** plug adds a device to sysfs, and then its node to `/dev/bus/usb`, like the kernel. */
  plug(port: string, device: UsbDevice): Promise<void>;
  unplug(port: string): Promise<void>;
  /** write creates a file in `/dev` or, with the path of the file, anywhere below the roots. */
  write(path: string, text: string, mode?: number): Promise<void>;
  remove(path: string): Promise<void>;
}

/** createHostTree creates empty file systems in a temporary folder. */
export async function createHostTree(): Promise<HostTree> {
  const root = await mkdtemp(join(tmpdir(), 'hsm-host-'));
  const [sysfs, dev, run] = [join(root, 'sys'), join(root, 'dev'), join(root, 'run')];
  const usb = join(sysfs, 'bus/usb/devices');
  await mkdir(usb, { recursive: true });
  await mkdir(dev, { recursive: true });
  await mkdir(run, { recursive: true });
  const nodes = new Map<string, string>();
  const write: HostTree['write'] = async (path, text, mode) => {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    if (mode !== undefined) await chmod(file, mode);
  };
  const remove = (path: string): Promise<void> => rm(join(root, path), { recursive: true, force: true });
  return {
    sysfs,
    dev,
    run,
    write,
    remove,
    async plug(port, { vendorId, productId, serial, bus, device, classes = ['0b'], manufacturer, product }) {
      const attributes = {
        idVendor: vendorId,
        idProduct: productId,
        serial,
        busnum: bus,
        devnum: device,
        manufacturer,
        product,
      };
      for (const [name, value] of Object.entries(attributes))
        if (value !== undefined) await write(`sys/bus/usb/devices/${port}/${name}`, `${value}\n`);
      for (const [index, each] of classes.entries())
        await write(`sys/bus/usb/devices/${port}:1.${index}/bInterfaceClass`, `${each}\n`);
      const node = `dev/bus/usb/${String(bus).padStart(3, '0')}/${String(device).padStart(3, '0')}`;
      nodes.set(port, node);
      await write(node, '');
    },
    async unplug(port) {
      for (const name of [port, ...[0, 1, 2, 3].map((index) => `${port}:1.${index}`)])
        await remove(`sys/bus/usb/devices/${name}`);
      await remove(nodes.get(port) ?? `dev/bus/usb/${port}`);
    },
    async [Symbol.asyncDispose]() {
      await rm(root, { recursive: true, force: true });
    },
  };
}
