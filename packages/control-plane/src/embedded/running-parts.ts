import { setImmediate } from 'node:timers/promises';
import { BowlineError } from '@bowline/machinery';
import { type Credentials, type Transport, tokenCredentials } from '@bowline/runtime/transport';
import type { ClientFor } from '../connect-client.ts';
import type { Component, Identity } from '../control-plane.ts';
import type { NodeAgent } from '../node-agent/start-node-agent.ts';
import { type AssembledServer, type AssembleOptions, assembleServer } from '../server/assemble-server.ts';
import { MASTERS } from '../server/authentication/user-info.ts';
import { ConnectionCut, RequestFaults } from '../server/faults/request-faults.ts';
import type { ApiRequest, ApiResponse, ClientCertificate } from '../server/http/api-request.ts';
import type { Listener, ListenOptions } from '../server/http/listen.ts';
import { Storage } from '../server/storage/storage.ts';
import { startWorkloads, type Workloads, type WorkloadsOptions } from '../workloads/start-workloads.ts';
import { inProcessTransport } from './in-process-transport.ts';
import type { Persistence } from './persistence.ts';

const CLOSE_PROPAGATION_TURNS = 5;

/**
 * EmbeddedComponent is a component that an embedded control plane can stop and start. It has no etcd, and its controllers include
 * the scheduler.
 */
export type EmbeddedComponent = Exclude<Component, 'etcd' | 'kube-scheduler'>;

/** RunningOptions configures the components of a control plane. */
export interface RunningOptions {
  readonly server: Omit<AssembleOptions, 'storage' | 'url'>;
  /** Where to listen; undefined for this process only. */
  readonly listen: Omit<ListenOptions, 'handle'> | undefined;
  readonly persistence: Persistence;
  readonly components: readonly EmbeddedComponent[];
  readonly controllers: Pick<WorkloadsOptions, 'workloads' | 'scheduler' | 'rootCertificate'>;
  readonly nodes: number;
  /** Where the folders of volumes are created; undefined for a temporary folder. */
  readonly volumesFolder: string | undefined;
}

/** RunningParts manages the components of an embedded control plane that start and stop during its lifetime. */
export class RunningParts {
  readonly components: readonly EmbeddedComponent[];
  readonly requestFaults: RequestFaults;
  readonly #options: RunningOptions;
  readonly #handle: (request: ApiRequest) => Promise<ApiResponse>;
  #storage: Storage;
  #server: AssembledServer | undefined;
  #listener: Listener | undefined;
  /** A restart uses the same port, so that kubeconfigs keep working. */
  #port: number | undefined;
  #nodeAgent: NodeAgent | undefined;
  #workloads: Workloads | undefined;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.components = options.components;
    this.requestFaults = new RequestFaults(options.server.clock);
    this.#handle = this.requestFaults.wrap((request) => {
      // A request to a stopped server gets no response, however it is sent.
      if (!this.#server) throw new ConnectionCut();
      return this.#server.handle(request);
    });
    this.#storage = this.#openStorage();
    this.#port = options.listen?.port;
  }

  get storage(): Storage {
    return this.#storage;
  }

  get nodeAgent(): NodeAgent | undefined {
    return this.#nodeAgent;
  }

  /** The URL of the API server; undefined if it is only available in this process. */
  get url(): string | undefined {
    if (!this.#options.listen || this.#port === undefined) return undefined;
    return `${this.#options.listen.tls ? 'https' : 'http'}://127.0.0.1:${this.#port}`;
  }

  /** start starts a component; a running one is not affected. */
  async start(component: EmbeddedComponent): Promise<void> {
    if (component === 'kube-controller-manager') this.#startControllers();
    else await this.#startServer();
  }

  #startControllers(): void {
    if (this.#workloads) return;
    const { controllers, server } = this.#options;
    const transport = this.#transportOf({ commonName: 'system:kube-controller-manager', organizations: [MASTERS] });
    const { clock, random } = server;
    // Watches and retries continue while a test stops the clock.
    this.#workloads = startWorkloads({ ...controllers, transport, clock, random });
    const close = (): Promise<void> => transport.close();
    this.#workloads.stopped.catch(server.onError).then(close, close);
  }

  async #startServer(): Promise<void> {
    if (this.#server) return;
    const { server, listen: where } = this.#options;
    this.#server = await assembleServer({
      ...server,
      storage: this.#storage,
      url: () => this.url ?? 'https://kubernetes.default.svc',
    });
    if (!where) return;
    // Loaded only if the server listens, so that a start in this process alone stays fast.
    const { listen } = await import('../server/http/listen.ts');
    this.#listener = await listen({ ...where, port: this.#port, handle: this.#handle });
    this.#port = this.#listener.port;
  }

  /** startNodes registers the nodes and starts the node agent. */
  async startNodes(signal: AbortSignal | undefined): Promise<void> {
    const { nodes, volumesFolder, server } = this.#options;
    if (nodes === 0) return;
    const { startOwnNodeAgent } = await import('../own-node-agent.ts');
    this.#nodeAgent = await startOwnNodeAgent(this.clientFor, {
      nodes,
      logs: this.#options.listen !== undefined,
      volumesFolder,
      clock: server.clock,
      signal,
    });
  }

  /** end stops a component immediately, like a crash: connections break. */
  async end(component: EmbeddedComponent): Promise<void> {
    if (component === 'kube-controller-manager') {
      const workloads = this.#workloads;
      this.#workloads = undefined;
      // Their failure has been reported already.
      await workloads?.stop().catch(() => undefined);
      return;
    }
    const listener = this.#listener;
    this.#listener = undefined;
    this.#server?.[Symbol.dispose]();
    this.#server = undefined;
    this.requestFaults.cutWatches();
    await listener?.close();
    // Clients in this process observe the end in the next turns of the event loop; a request before that would be lost.
    for (let turns = 0; listener && turns < CLOSE_PROPAGATION_TURNS; turns++) await setImmediate();
  }

  /** reopenStorage reads persisted data, if any; data that is only in memory stays as it is. */
  reopenStorage(): void {
    if (this.#options.persistence.close()) this.#storage = this.#openStorage();
  }

  /** stop ends everything. */
  async stop(): Promise<void> {
    // Hanging requests must not keep the rest from ending.
    this.requestFaults.resume();
    // A failure of the agent has been reported by `nodeAgent.stopped`.
    await this.#nodeAgent?.stop().catch(() => undefined);
    for (const component of this.components.toReversed()) await this.end(component);
    this.#options.persistence.close();
  }

  /** requirePart rejects components that this control plane does not have. */
  requirePart(component: Component): EmbeddedComponent {
    const part = this.components.find((each) => each === component);
    if (part) return part;
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_OPTIONS',
      `${component} is not part of this control plane; it has ${this.components.join(', ')}`,
    );
  }

  /** transport returns a transport to the API server without a socket, with an identity. */
  async transport(identity: Identity): Promise<Transport> {
    if (identity === 'admin') return this.#transportOf({ commonName: 'admin', organizations: [MASTERS] });
    if ('user' in identity)
      return this.#transportOf({ commonName: identity.user, organizations: identity.groups ?? [] });
    const { accountToken } = await import('../account-token.ts');
    await using admin = await this.clientFor('admin', 'control-plane');
    return this.#transportOf(tokenCredentials(await accountToken(admin, identity)));
  }

  readonly clientFor: ClientFor = async (identity, component) => {
    // Callers that use only the transport do not wait for the rest of the runtime to load.
    const { createClient } = await import('@bowline/runtime/client');
    return createClient({ component, transport: await this.transport(identity) });
  };

  #transportOf(caller: ClientCertificate | Credentials): Transport {
    return inProcessTransport({ handle: this.#handle, caller, wire: this.#options.server.clock });
  }

  #openStorage(): Storage {
    const { journal, restored } = this.#options.persistence.open();
    return new Storage({ clock: this.#options.server.clock, journal, restored });
  }
}
