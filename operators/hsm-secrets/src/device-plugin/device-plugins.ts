import { type Clock, forEachConcurrently, systemClock, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { DeviceConsumer } from '../discovery/discovery-command.ts';
import { FolderWatches } from '../discovery/folder-watches.ts';
import type { FoundDevice } from '../discovery/found-device.ts';
import { findKubelet, KUBELET_SOCKET } from './kubelet-socket.ts';
import { removeStaleSockets } from './plugin-sockets.ts';
import { ResourcePlugin } from './resource-plugin.ts';

/** DevicePluginsOptions configures where devices are offered. */
export interface DevicePluginsOptions {
  /** Where kubelet's folder of device plugins is mounted. Defaults to `/var/lib/kubelet/device-plugins`. */
  readonly folder?: string | undefined;
  /** Namespace and name of the HSMDevice. Only sockets of the same owner are removed. */
  readonly owner: string;
  /** The largest number of offered devices. Defaults to 1024, the most that an HSMDevice can have. */
  readonly maxDevices?: number | undefined;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

/** Where kubelet has it on a node. */
const DEFAULT_FOLDER = '/var/lib/kubelet/device-plugins';

const DEFAULT_MAX_DEVICES = 1024;
/** How often kubelet's socket is checked, in case that a change was not noticed. */
const CHECK_INTERVAL_MS = 10_000;
/** An unplugged device remains a resource of the node for so long; it may have been moved to another node. */
const FORGET_AFTER_MS = 600_000;
const CONCURRENCY = 8;

interface OfferedPlugin {
  readonly plugin: ResourcePlugin;
  /** When the device was unplugged; undefined while it is present. */
  absentSince: number | undefined;
}

/**
 * DevicePlugins offers physical devices to the kubelet of this node: each as a resource of its own, so that a pod gets
 * exactly the device that it names. Devices without a serial number cannot be named, so they are not offered. Without
 * kubelet's socket nothing is offered until it appears.
 *
 * @example
 * const plugins = new DevicePlugins({ owner: 'hsm/pico-hsm', log });
 * plugins.update(await scan(spec, roots)); // again after each scan
 * await plugins.run(signal);
 */
export class DevicePlugins implements DeviceConsumer {
  readonly #folder: string;
  readonly #owner: string;
  readonly #maxDevices: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: WakeSignal;
  readonly #offered = new Map<string, OfferedPlugin>();
  #devices: ReadonlyMap<string, FoundDevice> = new Map();
  #hasKubelet: boolean | undefined;
  #isLimitLogged = false;
  #isWatchFailureLogged = false;

  constructor(options: DevicePluginsOptions) {
    const { folder = DEFAULT_FOLDER, owner, maxDevices = DEFAULT_MAX_DEVICES, clock = systemClock } = options;
    this.#folder = folder;
    this.#owner = owner;
    this.#maxDevices = maxDevices;
    this.#clock = clock;
    this.#log = options.log;
    this.#changed = new WakeSignal(clock);
  }

  /** update replaces the devices of this node. Call it only after a successful scan: a missing device is unplugged. */
  update(devices: readonly FoundDevice[]): void {
    this.#devices = bySerialNumber(devices);
    for (const [serialNumber, offered] of this.#offered) {
      const device = this.#devices.get(serialNumber);
      offered.plugin.set(device);
      offered.absentSince = device ? undefined : (offered.absentSince ?? this.#clock.monotonic());
    }
    this.#changed.wake();
  }

  /** run offers the devices until the signal is aborted. It resolves when all its sockets are removed. */
  async run(signal: AbortSignal): Promise<void> {
    using watches = new FolderWatches({
      onChange: (_folder, name) => {
        if (name === null || name === KUBELET_SOCKET) this.#changed.wake();
      },
      onFailure: (folder, error) => this.#logWatchFailure(folder, error),
    });
    await this.#removeStaleSockets();
    try {
      while (!signal.aborted) {
        await watches.update([this.#folder]);
        await this.#check(signal);
        await this.#changed.wait(this.#msUntilCheck(), signal);
      }
    } finally {
      await this.#remove([...this.#offered.keys()]);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const kubelet = await findKubelet(this.#folder);
    this.#logKubelet(kubelet !== undefined);
    if (kubelet === undefined) return;
    await this.#remove(this.#expired());
    this.#add();
    const plugins = [...this.#offered.values()].map(({ plugin }) => plugin);
    await forEachConcurrently(plugins, CONCURRENCY, (plugin) => plugin.check(kubelet, signal));
  }

  async #removeStaleSockets(): Promise<void> {
    try {
      await removeStaleSockets(this.#folder, this.#owner);
    } catch (error) {
      // They do no harm: kubelet removes them when it restarts.
      this.#log.warn('cannot remove the sockets of an earlier process', { folder: this.#folder, error });
    }
  }

  /** Returns the devices that were unplugged long ago, or whose place another device needs. */
  #expired(): readonly string[] {
    const absent = [...this.#offered].flatMap(([serialNumber, { absentSince }]) =>
      absentSince === undefined ? [] : [{ serialNumber, absentSince }],
    );
    absent.sort((a, b) => a.absentSince - b.absentSince);
    const wanted = [...this.#devices.keys()].filter((serialNumber) => !this.#offered.has(serialNumber)).length;
    const excess = this.#offered.size + wanted - this.#maxDevices;
    const limit = this.#clock.monotonic() - FORGET_AFTER_MS;
    return absent
      .filter(({ absentSince }, at) => at < excess || absentSince <= limit)
      .map(({ serialNumber }) => serialNumber);
  }

  async #remove(serialNumbers: readonly string[]): Promise<void> {
    await forEachConcurrently(serialNumbers, CONCURRENCY, async (serialNumber) => {
      const offered = this.#offered.get(serialNumber);
      this.#offered.delete(serialNumber);
      await offered?.plugin[Symbol.asyncDispose]();
    });
  }

  #add(): void {
    for (const [serialNumber, device] of this.#devices) {
      if (this.#offered.has(serialNumber)) continue;
      if (this.#offered.size >= this.#maxDevices) {
        this.#logLimit();
        return;
      }
      const plugin = this.#createPlugin(serialNumber);
      plugin.set(device);
      this.#offered.set(serialNumber, { plugin, absentSince: undefined });
    }
  }

  #createPlugin(serialNumber: string): ResourcePlugin {
    return new ResourcePlugin({
      serialNumber,
      folder: this.#folder,
      owner: this.#owner,
      clock: this.#clock,
      log: this.#log,
      onChange: () => this.#changed.wake(),
    });
  }

  #msUntilCheck(): number {
    const now = this.#clock.monotonic();
    const due = [...this.#offered.values()].map(({ plugin }) => plugin.dueAt - now);
    return Math.max(0, Math.min(CHECK_INTERVAL_MS, ...(this.#hasKubelet ? due : [])));
  }

  #logKubelet(hasKubelet: boolean): void {
    if (!hasKubelet && this.#hasKubelet !== false)
      this.#log.info("kubelet's socket is missing, offering no devices until it appears", { folder: this.#folder });
    this.#hasKubelet = hasKubelet;
  }

  #logLimit(): void {
    if (this.#isLimitLogged) return;
    this.#isLimitLogged = true;
    this.#log.warn('too many devices, offering only some of them to kubelet', { limit: this.#maxDevices });
  }

  #logWatchFailure(folder: string, error: unknown): void {
    if (this.#isWatchFailureLogged) return;
    this.#isWatchFailureLogged = true;
    this.#log.warn("cannot watch for kubelet's socket, checking it every 10 s only", { folder, error });
  }
}

/** A serial number that two devices have is that of the first which can be used. */
function bySerialNumber(devices: readonly FoundDevice[]): ReadonlyMap<string, FoundDevice> {
  const found = new Map<string, FoundDevice>();
  for (const device of devices) {
    if (!device.serialNumber) continue;
    const other = found.get(device.serialNumber);
    if (!other || (!other.available && device.available)) found.set(device.serialNumber, device);
  }
  return found;
}
