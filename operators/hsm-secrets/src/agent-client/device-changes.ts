import { EventEmitter, on } from 'node:events';

/** DeviceChanges tells any number of followers which HSMDevices have agents that changed. */
export class DeviceChanges {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  /** announce reports that the agents of an HSMDevice, `namespace/name`, have changed. */
  announce(device: string): void {
    this.#emitter.emit('change', device);
  }

  /** follow yields the HSMDevices that are announced, until the signal is aborted. */
  async *follow(signal: AbortSignal): AsyncGenerator<string> {
    for await (const [device] of on(this.#emitter, 'change', { signal })) yield String(device);
  }
}
