import type { KubeconfigDocument } from './kubeconfig.ts';
import type { NodeAgent } from './node-agent/start-node-agent.ts';
import type { AuditEvent } from './server/audit/audit-event.ts';

/** Identity is somebody who asks the API server. */
export type Identity =
  /** May do everything (group `system:masters`). */
  | 'admin'
  /** A user by client certificate; RBAC decides what they may do. */
  | { readonly user: string; readonly groups?: readonly string[] }
  /** A ServiceAccount by token. It must exist; the token is bound to it and lives 24 hours. */
  | { readonly serviceAccount: { readonly namespace: string; readonly name: string } };

/** Component is a process of a real control plane. */
export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

/** ControlPlaneAccess is what can be done with a control plane that somebody else started. */
export interface ControlPlaneAccess {
  readonly kind: 'embedded' | 'kubernetes';
  /** The API server's address. */
  readonly url: string;
  /** The API server's version, for instance `v1.35.8`. */
  readonly version: string;
  /** kubeconfig answers a self-contained kubeconfig for an identity; it reads no files when used. */
  kubeconfig(identity: Identity): Promise<KubeconfigDocument>;
  /**
   * audit answers the requests that the API server finished at or after `since` (milliseconds since the epoch; defaults to
   * the beginning), oldest first. A request is there before its client sees the end of the answer.
   */
  audit(since?: number): Promise<readonly AuditEvent[]>;
}

/** Faults are what can be made to go wrong on purpose. */
export interface Faults {
  /** pause stops a component without ending it: connections stay open and nobody answers. */
  pause(component: Component): void;
  /** resume lets a paused component go on. */
  resume(component: Component): void;
  /**
   * compact makes etcd forget every revision but the newest. A watch from an older one is refused with 410 once the API
   * server no longer has it in memory, which a restart of the API server ensures.
   */
  compact(): Promise<void>;
}

/** Timings says how long the parts of a start took, in milliseconds. */
export interface Timings {
  /** Finding the binaries, or building them. */
  readonly binariesMs: number;
  /** The supervisor process and the certificates, side by side. */
  readonly prepareMs: number;
  /** Until etcd and the API server were ready. */
  readonly apiServerMs: number;
  /** Until the controllers had made the default ServiceAccount, the scheduler was ready and the nodes had reported. */
  readonly controllersMs: number;
  readonly totalMs: number;
}

/** ControlPlane is a running control plane. Dispose of it, or call `stop`, to end it without leftovers. */
export interface ControlPlane extends ControlPlaneAccess, AsyncDisposable {
  /** The folder with certificates, logs and data; temporary unless `dataDir` was given. */
  readonly folder: string;
  readonly timings: Timings;
  readonly faults: Faults;
  /** Plays the nodes: Pods on them become ready, or whatever a test wants of them. Undefined when started with 0 nodes. */
  readonly nodeAgent: NodeAgent | undefined;
  /**
   * restart asks a component to end, kills it when a second was not enough (open watches hold an API server for a minute),
   * starts it and resolves when it is ready. A dead one is only started. Defaults to all of them.
   */
  restart(component?: Component): Promise<void>;
  /** kill ends a component at once, as a crash would, and resolves when it is gone. `restart` brings it back. */
  kill(component: Component): Promise<void>;
  /** pid is a component's process id while it runs. */
  pid(component: Component): number | undefined;
  /** stop ends every process and removes temporary files. */
  stop(): Promise<void>;
}
