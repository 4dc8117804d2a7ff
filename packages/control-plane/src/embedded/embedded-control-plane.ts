import { BowlineError } from '@bowline/machinery';
import type { Transport } from '@bowline/runtime/client';
import type { Component, ControlPlane, ControlPlaneAccess, Faults, Identity, Timings } from '../control-plane.ts';
import type { KubeconfigDocument } from '../kubeconfig.ts';
import type { NodeAgent } from '../node-agent/start-node-agent.ts';
import { SerialExecutor } from '../serial-executor.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';
import type { RequestFault } from '../server/faults/request-faults.ts';
import type { RunningParts } from './running-parts.ts';

/** EmbeddedFaults injects faults into an embedded control plane. */
export interface EmbeddedFaults extends Faults {
  /** inject makes requests slow, fail or break until it is disposed. */
  inject(fault: RequestFault): Disposable;
  /** cutWatches ends every open watch like a lost connection. */
  cutWatches(): void;
}

/** EmbeddedParts holds the components of a started control plane. */
export interface EmbeddedParts {
  readonly access: ControlPlaneAccess;
  readonly running: RunningParts;
  readonly folder: string;
  readonly timings: Timings;
  /** stop ends every component and removes temporary files. */
  readonly stop: () => Promise<void>;
}

/** EmbeddedControlPlane is a control plane that runs in this process. */
export class EmbeddedControlPlane implements ControlPlane {
  readonly kind = 'embedded';
  readonly url: string;
  readonly version: string;
  readonly folder: string;
  readonly timings: Timings;
  readonly faults: EmbeddedFaults;
  readonly #access: ControlPlaneAccess;
  readonly #running: RunningParts;
  readonly #stop: () => Promise<void>;
  readonly #executor = new SerialExecutor();
  #stopped: Promise<void> | undefined;

  constructor({ access, running, folder, timings, stop }: EmbeddedParts) {
    this.#access = access;
    this.#running = running;
    this.#stop = stop;
    this.url = access.url;
    this.version = access.version;
    this.folder = folder;
    this.timings = timings;
    const { requestFaults } = running;
    this.faults = {
      pause: (component) => this.#onlyServer(component, () => requestFaults.pause()),
      resume: (component) => this.#onlyServer(component, () => requestFaults.resume()),
      compact: () => Promise.resolve(running.storage.compactHistory()),
      inject: (fault) => requestFaults.inject(fault),
      cutWatches: () => requestFaults.cutWatches(),
    };
  }

  get nodeAgent(): NodeAgent | undefined {
    return this.#running.nodeAgent;
  }

  kubeconfig(identity: Identity): Promise<KubeconfigDocument> {
    return this.#access.kubeconfig(identity);
  }

  audit(since?: number): Promise<readonly AuditEvent[]> {
    return this.#access.audit(since);
  }

  /** transport returns a transport to the API server without a socket, with an identity. Close it after use. */
  transport(identity: Identity): Promise<Transport> {
    return this.#running.transport(identity);
  }

  /** Always undefined: everything runs in this process. */
  pid(): undefined {
    return undefined;
  }

  restart(component?: Component): Promise<void> {
    return this.#executor.run(async () => {
      const running = this.#running;
      const which = component ? [running.requirePart(component)] : running.components;
      for (const each of which.toReversed()) await running.end(each);
      if (!component) running.reopenStorage();
      for (const each of which) await running.start(each);
    });
  }

  kill(component: Component): Promise<void> {
    return this.#executor.run(() => this.#running.end(this.#running.requirePart(component)));
  }

  stop(): Promise<void> {
    this.#executor.close();
    this.#stopped ??= this.#executor.settled().then(this.#stop);
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #onlyServer(component: Component, act: () => void): void {
    if (this.#running.requirePart(component) !== 'kube-apiserver') {
      throw new BowlineError(
        'BOWLINE_CONTROL_PLANE_OPTIONS',
        `${component} cannot be paused in the embedded control plane; kill it and restart it later`,
      );
    }
    act();
  }
}
