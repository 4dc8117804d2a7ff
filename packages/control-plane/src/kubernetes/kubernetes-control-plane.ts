import { BowlineError } from '@bowline/runtime';
import type { FileLock } from '../binaries/file-lock.ts';
import type { Component, ControlPlane, ControlPlaneAccess, Faults, Identity, Timings } from '../control-plane.ts';
import type { KubeconfigDocument } from '../kubeconfig.ts';
import type { NodeAgent } from '../node-agent/start-node-agent.ts';
import { SerialExecutor } from '../serial-executor.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { ComponentSet } from './component-set.ts';
import { probe } from './probe.ts';

/** KubernetesParts holds the components of a started control plane. */
export interface KubernetesParts {
  readonly access: ControlPlaneAccess;
  readonly components: ComponentSet;
  readonly supervisor: Supervisor;
  readonly lock: FileLock | undefined;
  /** In start order. */
  readonly parts: readonly Component[];
  readonly folder: string;
  readonly etcdUrl: string;
  readonly timings: Timings;
  readonly nodeAgent: NodeAgent | undefined;
}

/** KubernetesControlPlane is a running real control plane. */
export class KubernetesControlPlane implements ControlPlane {
  readonly kind = 'kubernetes';
  readonly url: string;
  readonly version: string;
  readonly folder: string;
  readonly timings: Timings;
  readonly faults: Faults;
  readonly nodeAgent: NodeAgent | undefined;
  readonly #parts: KubernetesParts;
  readonly #executor = new SerialExecutor();
  #stopped: Promise<void> | undefined;

  constructor(parts: KubernetesParts) {
    this.#parts = parts;
    this.url = parts.access.url;
    this.version = parts.access.version;
    this.folder = parts.folder;
    this.timings = parts.timings;
    this.nodeAgent = parts.nodeAgent;
    this.faults = {
      pause: (component) => this.#signal(component, 'SIGSTOP'),
      resume: (component) => this.#signal(component, 'SIGCONT'),
      compact: () => compactEtcd(parts.etcdUrl),
    };
  }

  kubeconfig(identity: Identity): Promise<KubeconfigDocument> {
    return this.#parts.access.kubeconfig(identity);
  }

  audit(since?: number): Promise<readonly AuditEvent[]> {
    return this.#parts.access.audit(since);
  }

  pid(component: Component): number | undefined {
    return this.#parts.components.pid(component);
  }

  restart(component?: Component): Promise<void> {
    return this.#executor.run(async () => {
      const { components, parts } = this.#parts;
      const which = component ? [component] : parts;
      for (const each of which.toReversed()) {
        this.#requirePart(each);
        await components.end(each, 'SIGTERM');
      }
      for (const each of which) await components.start(each);
      // The API server reconnects to a new etcd by itself, after a moment.
      if (component === 'etcd') await this.#untilApiServerReady();
    });
  }

  kill(component: Component): Promise<void> {
    return this.#executor.run(async () => {
      this.#requirePart(component);
      await this.#parts.components.end(component, 'SIGKILL');
    });
  }

  stop(): Promise<void> {
    this.#executor.close();
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #end(): Promise<void> {
    const { components, supervisor, lock, nodeAgent } = this.#parts;
    components.endQuietly();
    // A failure of the agent has been reported by `nodeAgent.stopped`; nothing must keep the components from ending.
    await nodeAgent?.stop().catch(() => undefined);
    await supervisor.stop();
    // A restart in progress fails because its process has exited; its caller gets that error.
    await this.#executor.settled();
    await lock?.release();
  }

  async #untilApiServerReady(): Promise<void> {
    const { components, supervisor } = this.#parts;
    const apiServer = supervisor.running('kube-apiserver');
    if (apiServer) await components.ready('kube-apiserver', apiServer);
  }

  #signal(component: Component, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#requirePart(component);
    this.#parts.supervisor.signal(component, signal);
  }

  #requirePart(component: Component): void {
    if (this.#parts.parts.includes(component)) return;
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_OPTIONS',
      `${component} is not part of this control plane; it has ${this.#parts.parts.join(', ')}`,
    );
  }
}

/** compactEtcd makes etcd forget every revision but the newest, through its JSON gateway. */
async function compactEtcd(etcdUrl: string): Promise<void> {
  // Any read answers the current revision; keys and values are base64.
  const read = await post(`${etcdUrl}/v3/kv/range`, { key: Buffer.from('/').toString('base64'), count_only: true });
  const { header } = JSON.parse(read) as { header: { revision: string } };
  await post(`${etcdUrl}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

async function post(url: string, body: object): Promise<string> {
  const response = await probe(url, { method: 'POST', body: JSON.stringify(body) });
  if (response.status === 200) return response.text;
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_COMPONENT',
    `etcd returned an error for ${new URL(url).pathname}: ${response.text.slice(0, 200)}; check that it is running, or restart it`,
  );
}
