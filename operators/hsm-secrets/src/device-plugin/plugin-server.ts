import type { handleUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import {
  type AllocateRequest,
  type AllocateResponse,
  type DeviceListMessage,
  type DeviceNode,
  type DevicePluginApi,
  loadDevicePluginApi,
  type NoFields,
  type PluginDevice,
  type PluginOptions,
  type PreferenceRequest,
  type PreferenceResponse,
} from './device-plugin-api.ts';

/** OfferedDevice is the one device of a resource. */
export interface OfferedDevice {
  /** At most 63 characters. */
  readonly id: string;
  /** The current path of its node; undefined while it cannot be used. */
  readonly path: string | undefined;
}

/** PluginServerOptions configures what is served where. */
export interface PluginServerOptions {
  readonly socketPath: string;
  /** device returns the current state of the device. */
  readonly device: () => OfferedDevice;
  /** Called when kubelet no longer watches the device. */
  readonly onUnwatched: () => void;
}

/** PLUGIN_OPTIONS announces that the plugin needs no optional calls. */
export const PLUGIN_OPTIONS: PluginOptions = { preStartRequired: false, getPreferredAllocationAvailable: false };

type DeviceStream = ServerWritableStream<NoFields, DeviceListMessage>;

/** PluginServer serves the plugin of one resource on a socket of its own. */
export class PluginServer implements AsyncDisposable {
  readonly socketPath: string;
  readonly #api: DevicePluginApi;
  readonly #options: PluginServerOptions;
  readonly #server: InstanceType<DevicePluginApi['grpc']['Server']>;
  /** The streams to kubelet, and whether each has room for a message. */
  readonly #streams = new Map<DeviceStream, boolean>();
  #isClosing = false;

  private constructor(api: DevicePluginApi, options: PluginServerOptions) {
    this.socketPath = options.socketPath;
    this.#api = api;
    this.#options = options;
    this.#server = new api.grpc.Server();
    const getOptions: handleUnaryCall<NoFields, PluginOptions> = (_call, respond) => respond(null, PLUGIN_OPTIONS);
    const prefer: handleUnaryCall<PreferenceRequest, PreferenceResponse> = ({ request }, respond) =>
      respond(null, preferenceOf(request));
    const preStart: handleUnaryCall<NoFields, NoFields> = (_call, respond) => respond(null, {});
    const allocate: handleUnaryCall<AllocateRequest, AllocateResponse> = (call, respond) =>
      this.#allocate(call, respond);
    this.#server.addService(api.devicePlugin, {
      GetDevicePluginOptions: getOptions,
      ListAndWatch: (stream: DeviceStream) => this.#watch(stream),
      GetPreferredAllocation: prefer,
      Allocate: allocate,
      PreStartContainer: preStart,
    });
  }

  /** start resolves when the socket accepts connections. */
  static async start(options: PluginServerOptions): Promise<PluginServer> {
    const api = await loadDevicePluginApi();
    const started = new PluginServer(api, options);
    await new Promise<void>((resolve, reject) => {
      const credentials = api.grpc.ServerCredentials.createInsecure();
      started.#server.bindAsync(`unix:${options.socketPath}`, credentials, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    return started;
  }

  /** isWatched reports whether kubelet receives the changes of the device. */
  get isWatched(): boolean {
    return this.#streams.size > 0;
  }

  /** sendState reports the current state of the device to kubelet. */
  sendState(): void {
    for (const stream of this.#streams.keys()) this.#send(stream);
  }

  /** Removes the socket, too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    for (const stream of this.#streams.keys()) stream.end();
    await new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => resolve());
      // Every call is answered at once, so none is waiting; kubelet would keep its connection open.
      this.#server.forceShutdown();
    });
  }

  #watch(stream: DeviceStream): void {
    this.#streams.set(stream, true);
    const end = (): void => {
      if (this.#streams.delete(stream) && !this.isWatched && !this.#isClosing) this.#options.onUnwatched();
    };
    for (const event of ['cancelled', 'error', 'close']) stream.on(event, end);
    stream.on('drain', () => {
      if (!this.#streams.has(stream)) return;
      this.#streams.set(stream, true);
      this.#send(stream);
    });
    this.#send(stream);
  }

  /** A stream that kubelet does not read gets the latest state when it reads again, and not all those between. */
  #send(stream: DeviceStream): void {
    if (this.#streams.get(stream) === false) return;
    const { id, path } = this.#options.device();
    const device: PluginDevice = { ID: id, health: path === undefined ? 'Unhealthy' : 'Healthy' };
    this.#streams.set(stream, stream.write({ devices: [device] }));
  }

  #allocate(...[{ request }, respond]: Parameters<handleUnaryCall<AllocateRequest, AllocateResponse>>): void {
    const { id, path } = this.#options.device();
    if (path === undefined) {
      const details = `the device ${id} is not present on this node; plug it in, or delete the pod`;
      respond({ code: this.#api.grpc.status.UNAVAILABLE, details });
      return;
    }
    const node: DeviceNode = { containerPath: path, hostPath: path, permissions: 'rw' };
    respond(null, { containerResponses: request.containerRequests.map(() => ({ devices: [node] })) });
  }
}

/** There is one device, so there is no choice. */
function preferenceOf({ containerRequests }: PreferenceRequest): PreferenceResponse {
  return { containerResponses: containerRequests.map(({ availableDeviceIDs }) => ({ deviceIDs: availableDeviceIDs })) };
}
