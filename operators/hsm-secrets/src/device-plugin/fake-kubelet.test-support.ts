import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, ClientReadableStream, handleUnaryCall, MethodDefinition, Server } from '@grpc/grpc-js';
import {
  API_VERSION,
  type DeviceListMessage,
  type DeviceNode,
  type DevicePluginApi,
  loadDevicePluginApi,
  type NoFields,
  type PluginDevice,
  type RegisterRequest,
} from './device-plugin-api.ts';
import { KUBELET_SOCKET } from './kubelet-socket.ts';

/** RegisteredPlugin is what the fake knows about the plugin of a resource. */
export interface RegisteredPlugin {
  readonly endpoint: string;
  /** Every list that the plugin has sent. */
  readonly lists: (readonly PluginDevice[])[];
  readonly isConnected: boolean;
}

interface Connection extends RegisteredPlugin {
  readonly client: Client;
  readonly stream: ClientReadableStream<DeviceListMessage>;
  isConnected: boolean;
}

/**
 * FakeKubelet speaks the device plugin API as kubelet does: it connects to a plugin before it accepts it, watches it
 * afterwards, and removes all sockets when it starts.
 */
export class FakeKubelet implements AsyncDisposable {
  readonly folder: string;
  /** Every attempt to register, refused ones included. */
  readonly attempts: RegisterRequest[] = [];
  /** A text with which registrations are refused. */
  refusal: string | undefined;
  /** Whether it never watches the plugins that it accepts. */
  isBlind = false;
  readonly #api: DevicePluginApi;
  readonly #connections = new Map<string, Connection>();
  #server: Server | undefined;

  private constructor(folder: string, api: DevicePluginApi) {
    this.folder = folder;
    this.#api = api;
  }

  /** create returns a kubelet with a temporary folder that has not started yet. */
  static async create(): Promise<FakeKubelet> {
    return new FakeKubelet(await mkdtemp(join(tmpdir(), 'kubelet-')), await loadDevicePluginApi());
  }

  /** resources holds the registered plugins by the name of their resource. */
  get resources(): ReadonlyMap<string, RegisteredPlugin> {
    return this.#connections;
  }

  /** sockets returns the names of the sockets of plugins. */
  sockets(): readonly string[] {
    return readdirSync(this.folder).filter((name) => name.endsWith('.sock') && name !== KUBELET_SOCKET);
  }

  /** health returns the last reported health of the device of a resource; undefined without a connected plugin. */
  health(resource: string): string | undefined {
    const connection = this.#connections.get(resource);
    return connection?.isConnected
      ? connection.lists
          .at(-1)
          ?.map(({ health }) => health)
          .join()
      : undefined;
  }

  async start(): Promise<void> {
    for (const name of [...this.sockets(), KUBELET_SOCKET]) await rm(join(this.folder, name), { force: true });
    const { grpc, registration } = this.#api;
    const server = new grpc.Server();
    const register: handleUnaryCall<RegisterRequest, NoFields> = ({ request }, respond) => {
      this.#register(request).then(
        () => respond(null, {}),
        (error: Error) => respond({ code: grpc.status.UNKNOWN, details: error.message }),
      );
    };
    server.addService({ ...registration }, { Register: register });
    await new Promise<void>((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      server.bindAsync(`unix:${join(this.folder, KUBELET_SOCKET)}`, credentials, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    this.#server = server;
  }

  /** stop ends all connections and removes the socket, as a kubelet that is shut down. */
  async stop(): Promise<void> {
    for (const resource of [...this.#connections.keys()]) this.disconnect(resource);
    this.#connections.clear();
    const server = this.#server;
    this.#server = undefined;
    await new Promise<void>((resolve) => {
      if (!server) return resolve();
      server.tryShutdown(() => resolve());
      server.forceShutdown();
    });
  }

  /** disconnect ends the connection to the plugin of a resource. */
  disconnect(resource: string): void {
    const connection = this.#connections.get(resource);
    connection?.stream.cancel();
    connection?.client.close();
  }

  /** allocate requests the device of a resource for a container. */
  async allocate(resource: string): Promise<readonly DeviceNode[]> {
    const connection = this.#connections.get(resource);
    if (!connection) throw new Error(`${resource} is not registered`);
    const devicesIds = connection.lists.at(-1)?.map(({ ID }) => ID) ?? [];
    const { Allocate } = this.#api.devicePlugin;
    const { containerResponses } = await call(connection.client, Allocate, { containerRequests: [{ devicesIds }] });
    return containerResponses[0]?.devices ?? [];
  }

  /** callPlugin calls any method of the plugin of a resource. */
  async callPlugin<Q, R>(resource: string, choose: (api: DevicePluginApi) => MethodDefinition<Q, R>, request: Q) {
    const connection = this.#connections.get(resource);
    if (!connection) throw new Error(`${resource} is not registered`);
    return await call(connection.client, choose(this.#api), request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #register(request: RegisterRequest): Promise<void> {
    this.attempts.push(request);
    if (this.refusal !== undefined) throw new Error(this.refusal);
    if (request.version !== API_VERSION) throw new Error(`requested API version "${request.version}" is not supported`);
    const { grpc, devicePlugin } = this.#api;
    const address = `unix:${join(this.folder, request.endpoint)}`;
    const client = new grpc.Client(address, grpc.credentials.createInsecure());
    try {
      await call(client, devicePlugin.GetDevicePluginOptions, {});
    } catch (error) {
      client.close();
      throw error;
    }
    if (this.isBlind) client.close();
    else this.#watch(request, client);
  }

  #watch({ resourceName, endpoint }: RegisterRequest, client: Client): void {
    const { path, requestSerialize, responseDeserialize } = this.#api.devicePlugin.ListAndWatch;
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {});
    const connection: Connection = { endpoint, lists: [], isConnected: true, client, stream };
    this.#connections.set(resourceName, connection);
    const end = (): void => {
      connection.isConnected = false;
    };
    stream.on('data', ({ devices }: DeviceListMessage) => connection.lists.push(devices));
    stream.on('end', end);
    stream.on('error', end);
  }
}

function call<Q, R>(client: Client, method: MethodDefinition<Q, R>, request: Q): Promise<R> {
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) => {
      if (error) reject(error);
      else if (response) resolve(response);
    });
  });
}
