import { EventEmitter, on } from 'node:events';
import type { DeviceSource } from '../discovery/device-source.ts';
import type { FoundDevice } from '../discovery/found-device.ts';
import type { SimulatedDevice } from './simulation-secret.ts';

/** SimulatedNodes holds the simulated devices of all nodes, and replaces their file systems for discovery. */
export class SimulatedNodes {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  #devices: readonly SimulatedDevice[] = [];

  /** update replaces the devices of all nodes. */
  update(devices: readonly SimulatedDevice[]): void {
    this.#devices = devices;
    this.#emitter.emit('change');
  }

  /** sourceFor returns the devices of a node, as discovery finds them. */
  sourceFor(nodeName: string): DeviceSource {
    const emitter = this.#emitter;
    return {
      scan: async () => this.#devices.filter((each) => each.nodeName === nodeName && each.isPlugged).map(foundDevice),
      async *changes(signal) {
        try {
          for await (const _ of on(emitter, 'change', { signal })) yield;
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      },
    };
  }
}

function foundDevice({ serialNumber }: SimulatedDevice): FoundDevice {
  return {
    devicePath: `/dev/bus/usb/001/${String(pathNumber(serialNumber)).padStart(3, '0')}`,
    serialNumber,
    available: true,
    deviceInfo: { product: 'Pico HSM (simulated)', simulated: 'true' },
  };
}

/** A number from 1 to 127, as USB devices have, that stays the same for a device. */
function pathNumber(serialNumber: string): number {
  return (Buffer.from(serialNumber).reduce((sum, byte) => (sum * 31 + byte) % 127, 0) % 127) + 1;
}
