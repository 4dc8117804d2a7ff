import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { DeviceSource, SearchSpec } from './device-source.ts';
import { FolderWatches } from './folder-watches.ts';
import type { FoundDevice, HostRoots } from './found-device.ts';
import { scan } from './scan.ts';

/** HostDevicesOptions configures where the file systems of the node are mounted. */
export interface HostDevicesOptions extends HostRoots {
  /** Of `/run`. */
  readonly run: string;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

/** One device causes many events: nodes, permissions, the database of udev. */
const COALESCE_MS = 250;
/** More buses than the kernel supports. */
const MAX_BUSES = 256;
/**
 * The entries of character devices and USB devices in the database of udev. Network interfaces and volumes of pods come
 * and go all the time.
 */
const RELEVANT_ENTRY = /^(?:c\d|\+usb)/;

/**
 * HostDevices finds devices in the file systems of the node. Watches of folders detect changes. Where a folder cannot
 * be watched, which is logged once, changes are found by the next scan.
 */
export class HostDevices implements DeviceSource {
  readonly #roots: HostRoots;
  readonly #usb: string;
  readonly #udev: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: WakeSignal;
  #watches: FolderWatches | undefined;
  #isFailureLogged = false;

  constructor({ sysfs, dev, run, clock = systemClock, log }: HostDevicesOptions) {
    this.#roots = { sysfs, dev };
    this.#usb = join(dev, 'bus/usb');
    this.#udev = join(run, 'udev/data');
    this.#clock = clock;
    this.#log = log;
    this.#changed = new WakeSignal(clock);
  }

  async scan(spec: SearchSpec): Promise<readonly FoundDevice[]> {
    // A folder that appeared where no watch could notice it.
    if (await this.#updateWatches()) this.#changed.wake();
    return await scan(spec, this.#roots);
  }

  async *changes(signal: AbortSignal): AsyncGenerator<void> {
    using watches = new FolderWatches({
      onChange: (folder, name) => this.#onChange(folder, name),
      onFailure: (folder, error) => this.#logFailure({ folder, error }),
    });
    this.#watches = watches;
    try {
      // Devices may have changed between the first scan and the first watch.
      if (await this.#updateWatches()) this.#changed.wake();
      if (watches.size === 0) this.#logFailure({ folders: [this.#usb, this.#udev] });
      while (!signal.aborted) {
        await this.#changed.wait(Number.POSITIVE_INFINITY, signal);
        await this.#clock.sleep(COALESCE_MS, signal).catch(() => undefined);
        await this.#updateWatches();
        this.#changed.clear();
        if (!signal.aborted) yield;
      }
    } finally {
      this.#watches = undefined;
    }
  }

  #onChange(folder: string, name: string | null): void {
    if (folder !== this.#udev || name === null || RELEVANT_ENTRY.test(name)) this.#changed.wake();
  }

  /** Returns whether a folder was added. */
  async #updateWatches(): Promise<boolean> {
    const update = async (): Promise<boolean> => (await this.#watches?.update(await this.#folders())) ?? false;
    if (!(await update())) return false;
    // A bus may have appeared before its parent was watched.
    await update();
    return true;
  }

  async #folders(): Promise<readonly string[]> {
    const entries = await readdir(this.#usb, { withFileTypes: true }).catch(() => []);
    const buses = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(this.#usb, name));
    return [this.#usb, ...buses.slice(0, MAX_BUSES), this.#udev];
  }

  #logFailure(fields: Readonly<Record<string, unknown>>): void {
    if (this.#isFailureLogged) return;
    this.#isFailureLogged = true;
    this.#log.warn('cannot watch for devices, finding changes at the scan interval only', fields);
  }
}
