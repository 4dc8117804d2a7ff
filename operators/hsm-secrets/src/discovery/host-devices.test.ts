import { type FSWatcher, watch } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { describe, expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HostDevices } from './host-devices.ts';
import { createHostTree, type HostTree, type UsbDevice } from './host-tree.test-support.ts';

const PICO: UsbDevice = { vendorId: '20a0', productId: '4230', serial: 'DC6A33145E23A42A', bus: 1, device: 15 };
const { spec } = HSMDevice.withDefaults({ spec: { deviceType: 'PicoHSM' } });
/** Events of the file system arrive when the kernel sends them. */
const waiting = { timeout: 20_000, interval: 5 };

/** Follower counts the hints of a source. */
class Follower implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly warnings: string[] = [];
  readonly source: HostDevices;
  hints = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor({ sysfs, dev, run }: Pick<HostTree, 'sysfs' | 'dev' | 'run'>) {
    const log: Log = { ...silentLog, warn: (message) => void this.warnings.push(message) };
    this.source = new HostDevices({ sysfs, dev, run, clock: this.clock, log });
    this.#running = this.#follow();
  }

  async #follow(): Promise<void> {
    for await (const _ of this.source.changes(this.#stop.signal)) this.hints++;
  }

  /** untilEvent waits until an event has arrived, which starts the timer that coalesces. */
  async untilEvent(): Promise<void> {
    await vi.waitFor(() => expect(this.clock.pendingTimers).toBe(1), waiting);
  }

  /** untilHint waits for an event and lets it become a hint. */
  async untilHint(): Promise<void> {
    const before = this.hints;
    await this.untilEvent();
    await this.clock.advance(250);
    await vi.waitFor(() => expect(this.hints).toBe(before + 1), waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    expect(this.clock.pendingTimers).toBe(0);
  }
}

/** EntryEvents receives the events of a folder, after the watches that were opened before. */
class EntryEvents implements Disposable {
  readonly #names = new Set<string | null>();
  readonly #watcher: FSWatcher;

  constructor(folder: string) {
    this.#watcher = watch(folder, (_event, name) => void this.#names.add(name));
  }

  async until(name: string): Promise<void> {
    await vi.waitFor(() => expect(this.#names).toContain(name), waiting);
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }
}

describe('scenario 41 hot-plugged devices', () => {
  it('cause one hint within 250 ms, in buses that exist and in new ones', async () => {
    await using host = await createHostTree();
    await host.write('dev/bus/usb/001/001', '');
    await using follower = new Follower(host);
    // The watches are new: something may have changed before.
    await follower.untilHint();
    await host.plug('1-1', PICO);
    await follower.untilEvent();
    await host.plug('1-2', { ...PICO, device: 16 });
    await follower.clock.advance(249);
    expect(follower.hints).toBe(1);
    await follower.untilHint();
    await host.plug('2-1', { ...PICO, bus: 2 });
    await follower.untilHint();
    await host.unplug('2-1');
    await follower.untilHint();
    expect(follower.hints).toBe(4);
  });

  it('cause hints after their bus was removed and added again', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', PICO);
    await using follower = new Follower(host);
    await follower.untilHint();
    await host.remove('dev/bus/usb/001');
    await follower.untilHint();
    await mkdir(join(host.dev, 'bus/usb/001'));
    await follower.untilHint();
    await host.plug('1-1', PICO);
    await follower.untilHint();
  });

  it('cause hints although their bus was replaced by another folder of the same name', async () => {
    await using host = await createHostTree();
    await host.plug('1-1', PICO);
    await mkdir(join(host.dev, 'next'));
    await using follower = new Follower(host);
    await follower.untilHint();
    await rm(join(host.dev, 'bus/usb/001'), { recursive: true });
    await rename(join(host.dev, 'next'), join(host.dev, 'bus/usb/001'));
    await follower.untilHint();
    await host.plug('1-1', PICO);
    await follower.untilHint();
  });

  it('cause hints by their entries in the database of udev, and networks and volumes of pods do not', async () => {
    await using host = await createHostTree();
    await host.write('run/udev/data/c189:1', '');
    await using follower = new Follower(host);
    await follower.untilHint();
    using events = new EntryEvents(join(host.run, 'udev/data'));
    for (const name of ['n42', 'b8:0', '+pci:0000:00:14.0']) {
      await host.write(`run/udev/data/${name}`, '');
      await events.until(name);
      expect(follower.clock.pendingTimers).toBe(0);
    }
    for (const name of ['c189:14', '+usb:1-1']) {
      await host.write(`run/udev/data/${name}`, '');
      await follower.untilHint();
    }
    expect(follower.warnings).toEqual([]);
  });

  it('are found by the next scan if there is nothing to watch, which is logged once', async () => {
    await using host = await createHostTree();
    await using follower = new Follower(host);
    await vi.waitFor(() => expect(follower.warnings).toHaveLength(1), waiting);
    expect(follower.warnings).toEqual(['cannot watch for devices, finding changes at the scan interval only']);
    await host.plug('1-1', PICO);
    expect(await follower.source.scan(spec)).toHaveLength(1);
    // The scan found the folder that did not exist before.
    await follower.untilHint();
    await host.unplug('1-1');
    await follower.untilHint();
    expect(await follower.source.scan(spec)).toEqual([]);
    expect(follower.warnings).toHaveLength(1);
  });
});

it('scans also while no one follows its changes', async () => {
  await using host = await createHostTree();
  await host.plug('1-1', PICO);
  const source = new HostDevices({ sysfs: host.sysfs, dev: host.dev, run: host.run, log: silentLog });
  expect(await source.scan(spec)).toMatchObject([{ serialNumber: 'DC6A33145E23A42A' }]);
});
