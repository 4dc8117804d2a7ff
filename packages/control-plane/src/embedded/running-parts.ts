import { setImmediate } from 'node:timers/promises';
import { BowlineError } from '@bowline/machinery';
import type { Transport } from '@bowline/runtime';
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

const NOTICED_AFTER_TURNS = 5;

/** EmbeddedComponent is what an embedded control plane can stop and start. There is no etcd in it, and the controllers schedule too. */
export type EmbeddedComponent = Exclude<Component, 'etcd' | 'kube-scheduler'>;

/** RunningOptions is what the parts of a control plane are made of. */
export interface RunningOptions {
  readonly server: Omit<AssembleOptions, 'storage' | 'url'>;
  /** Where it is served; undefined for this process alone. */
  readonly listen: Omit<ListenOptions, 'handle'> | undefined;
  readonly persistence: Persistence;
  readonly components: readonly EmbeddedComponent[];
  readonly controllers: Pick<WorkloadsOptions, 'workloads' | 'scheduler' | 'rootCertificate'>;
  readonly nodes: number;
}

/** RunningParts are the parts of an embedded control plane that come and go while it exists. */
export class RunningParts {
  readonly components: readonly EmbeddedComponent[];
  readonly requestFaults: RequestFaults;
  readonly #options: RunningOptions;
  readonly #handle: (request: ApiRequest) => Promise<ApiResponse>;
  #storage: Storage;
  #server: AssembledServer | undefined;
  #listener: Listener | undefined;
  /** A restart serves where it was served before: kubeconfigs go on working. */
  #port: number | undefined;
  #nodeAgent: NodeAgent | undefined;
  #workloads: Workloads | undefined;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.components = options.components;
    this.requestFaults = new RequestFaults(options.server.clock);
    this.#handle = this.requestFaults.around((request) => {
      // What asks a server that does not run gets no answer, however it asks.
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

  /** url is where the API server is found; undefined when only this process finds it. */
  get url(): string | undefined {
    if (!this.#options.listen || this.#port === undefined) return undefined;
    return `${this.#options.listen.tls ? 'https' : 'http'}://127.0.0.1:${this.#port}`;
  }

  /** start lets a component run; nothing happens to one that does. */
  async start(component: EmbeddedComponent): Promise<void> {
    if (component === 'kube-controller-manager') this.#startControllers();
    else await this.#startServer();
  }

  #startControllers(): void {
    if (this.#workloads) return;
    const { controllers, server } = this.#options;
    const transport = this.#transportOf({ commonName: 'system:kube-controller-manager', organizations: [MASTERS] });
    const { clock, random } = server;
    // Watches and retries go on while a test stops the clock.
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
    // What a start in this process alone does not use is not loaded either.
    const { listen } = await import('../server/http/listen.ts');
    this.#listener = await listen({ ...where, port: this.#port, handle: this.#handle });
    this.#port = this.#listener.port;
  }

  /** startNodes registers the nodes and lets Pods on them become ready. */
  async startNodes(signal: AbortSignal | undefined): Promise<void> {
    const { nodes, server } = this.#options;
    if (nodes === 0) return;
    const { startOwnNodeAgent } = await import('../own-node-agent.ts');
    this.#nodeAgent = await startOwnNodeAgent(this.clientFor, {
      nodes,
      logs: this.#options.listen !== undefined,
      clock: server.clock,
      signal,
    });
  }

  /** end stops a component at once, as a crash would: connections break. */
  async end(component: EmbeddedComponent): Promise<void> {
    if (component === 'kube-controller-manager') {
      const workloads = this.#workloads;
      this.#workloads = undefined;
      // Why they failed has been told.
      await workloads?.stop().catch(() => undefined);
      return;
    }
    const listener = this.#listener;
    this.#listener = undefined;
    this.#server?.[Symbol.dispose]();
    this.#server = undefined;
    this.requestFaults.cutWatches();
    await listener?.close();
    // Clients in this process notice in the next turns of its loop; a request before that would be lost.
    for (let turns = 0; listener && turns < NOTICED_AFTER_TURNS; turns++) await setImmediate();
  }

  /** reopenStorage reads what was kept, if anything is; what is in memory alone stays as it is. */
  reopenStorage(): void {
    if (this.#options.persistence.close()) this.#storage = this.#openStorage();
  }

  /** stop ends everything. */
  async stop(): Promise<void> {
    // Whoever hangs must not keep the rest from ending.
    this.requestFaults.resume();
    // A failure of the agent has been told by `nodeAgent.stopped`.
    await this.#nodeAgent?.stop().catch(() => undefined);
    for (const component of this.components.toReversed()) await this.end(component);
    this.#options.persistence.close();
  }

  /** requirePart refuses components that this control plane does not have. */
  requirePart(component: Component): EmbeddedComponent {
    const part = this.components.find((each) => each === component);
    if (part) return part;
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_OPTIONS',
      `${component} is not part of this control plane; it has ${this.components.join(', ')}`,
    );
  }

  /** transport reaches the API server without a socket, as somebody. */
  async transport(identity: Identity): Promise<Transport> {
    if (identity === 'admin') return this.#transportOf({ commonName: 'admin', organizations: [MASTERS] });
    if ('user' in identity)
      return this.#transportOf({ commonName: identity.user, organizations: identity.groups ?? [] });
    const { accountToken } = await import('../account-token.ts');
    await using admin = await this.clientFor('admin', 'control-plane');
    return this.#transportOf({ token: await accountToken(admin, identity.serviceAccount) });
  }

  readonly clientFor: ClientFor = async (identity, component) => {
    // Whoever asks the server by its transport alone does not wait for the rest of the runtime.
    const { createClient } = await import('@bowline/runtime');
    return createClient({ component, transport: await this.transport(identity) });
  };

  #transportOf(caller: ClientCertificate | { readonly token: string }): Transport {
    return inProcessTransport({ handle: this.#handle, caller, wire: this.#options.server.clock });
  }

  #openStorage(): Storage {
    const { journal, restored } = this.#options.persistence.open();
    return new Storage({ clock: this.#options.server.clock, journal, restored });
  }
}
