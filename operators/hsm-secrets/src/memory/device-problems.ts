import { BoundedMap } from '@bowline/machinery';
import type { KeyStream } from '@bowline/runtime/controller';

/** The problem of a device that does not fit is only in its events. */
const MAX_DEVICES = 10_000;

/** DeviceProblems passes the problems of HSMDevices, which have no status, to the conditions of their pools. */
export class DeviceProblems {
  readonly #byDevice = new BoundedMap<string, string>({ maxEntries: MAX_DEVICES });
  readonly #changedPools: KeyStream;

  constructor(changedPools: KeyStream) {
    this.#changedPools = changedPools;
  }

  /** get returns the problem of an HSMDevice, an empty text if it has none, or undefined if that is not known yet. */
  get(deviceUID: string): string | undefined {
    return this.#byDevice.get(deviceUID);
  }

  /** set records the problem of an HSMDevice after a run, an empty text for none. `pool` is the key of its pool. */
  set(deviceUID: string, problem: string, pool: string): void {
    if (this.#byDevice.get(deviceUID) === problem) return;
    this.#byDevice.set(deviceUID, problem);
    this.#changedPools.add(pool);
  }
}
