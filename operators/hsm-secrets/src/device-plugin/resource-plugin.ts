import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { GROUP, resourceName } from '../api/names.ts';
import type { FoundDevice } from '../discovery/found-device.ts';
import { API_VERSION } from './device-plugin-api.ts';
import { PLUGIN_OPTIONS, PluginServer } from './plugin-server.ts';
import { newSocketPath } from './plugin-sockets.ts';
import { registerPlugin } from './register-plugin.ts';

/** ResourcePluginOptions configures the plugin of one physical device. */
export interface ResourcePluginOptions {
  readonly serialNumber: string;
  readonly folder: string;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the plugin should be checked again. */
  readonly onChange: () => void;
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** After it has accepted a plugin, kubelet watches it at once. */
const WATCH_WITHIN_MS = 5_000;

/**
 * ResourcePlugin offers one physical device to kubelet, as a resource with one device. While the device is unplugged it
 * is unhealthy, so no pod gets it. It stays in the list: kubelet (1.35) panics if a device leaves the list while kubelet
 * waits for the response to Allocate.
 */
export class ResourcePlugin implements AsyncDisposable {
  readonly resourceName: string;
  readonly #options: ResourcePluginOptions;
  readonly #log: Log;
  #path: string | undefined;
  #server: PluginServer | undefined;
  /** The kubelet that the plugin was last registered with, or tried to. */
  #kubelet: string | undefined;
  #isRegistered = false;
  #failures = 0;
  /** When to check the registration next. */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResourcePluginOptions) {
    this.#options = options;
    this.resourceName = resourceName(options.serialNumber);
    this.#log = options.log.with({ resource: this.resourceName });
  }

  /** dueAt is when the plugin must be checked next; Infinity while kubelet watches it. */
  get dueAt(): number {
    return this.#server?.isWatched ? Number.POSITIVE_INFINITY : this.#dueAt;
  }

  /** set changes the state of the device, and reports a change to kubelet. */
  set(device: FoundDevice | undefined): void {
    const path = device?.available ? device.devicePath : undefined;
    const wasPresent = this.#path !== undefined;
    this.#path = path;
    if (wasPresent !== (path !== undefined)) this.#server?.sendState();
  }

  /** check registers the plugin with the given kubelet, unless that kubelet watches it. It does not reject. */
  async check(kubelet: string, signal: AbortSignal): Promise<void> {
    if (this.#kubelet !== kubelet) await this.#forgetKubelet();
    this.#kubelet = kubelet;
    if (this.dueAt > this.#options.clock.monotonic()) return;
    if (this.#isRegistered) this.#log.info('kubelet does not watch the device plugin, registering it again');
    this.#isRegistered = false;
    try {
      await this.#register(signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.[Symbol.asyncDispose]();
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { folder, owner, serialNumber, clock } = this.#options;
    // A kubelet that starts removes all sockets.
    if (this.#server && !existsSync(this.#server.socketPath)) await this[Symbol.asyncDispose]();
    this.#server ??= await PluginServer.start({
      socketPath: newSocketPath(folder, owner, serialNumber),
      device: () => ({ id: this.resourceName.slice(GROUP.length + 1), path: this.#path }),
      onUnwatched: () => this.#unwatched(),
    });
    const endpoint = basename(this.#server.socketPath);
    this.#dueAt = Number.POSITIVE_INFINITY;
    await registerPlugin(
      { version: API_VERSION, endpoint, resourceName: this.resourceName, options: PLUGIN_OPTIONS },
      { folder, clock, signal },
    );
    this.#isRegistered = true;
    this.#failures = 0;
    this.#dueAt = clock.monotonic() + WATCH_WITHIN_MS;
    this.#log.info('registered the device plugin with kubelet');
  }

  #failed(error: unknown): void {
    if (this.#failures === 0) this.#log.warn('cannot register the device plugin with kubelet, retrying', { error });
    const delay = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#dueAt = this.#options.clock.monotonic() + delay;
  }

  /**
   * Kubelet restarts, or has mixed up two registrations: when the stream of a plugin ends, it also disconnects one that
   * was registered under the same name in the meantime. The delay lets it finish before the next registration.
   */
  #unwatched(): void {
    this.#dueAt = this.#options.clock.monotonic() + MIN_RETRY_MS;
    this.#options.onChange();
  }

  async #forgetKubelet(): Promise<void> {
    await this[Symbol.asyncDispose]();
    this.#isRegistered = false;
    this.#failures = 0;
    this.#dueAt = Number.NEGATIVE_INFINITY;
  }
}
