import type { Transport } from '@bowline/runtime/client';
import type { KubeconfigDocument } from './kubeconfig.ts';
import type { NodeAgent } from './node-agent/start-node-agent.ts';
import type { AuditEvent } from './server/audit/audit-event.ts';

/** Identity is a user or ServiceAccount that sends requests to the API server. */
export type Identity =
  /** May do everything (group `system:masters`). */
  | 'admin'
  /** A user authenticated by client certificate. RBAC decides what it may do. */
  | { readonly user: string; readonly groups?: readonly string[] }
  | AccountIdentity;

/**
 * AccountIdentity is a ServiceAccount authenticated by token. It must exist; the token is bound to it and is valid for
 * 24 hours.
 */
export interface AccountIdentity {
  readonly serviceAccount: { readonly namespace: string; readonly name: string };
  /**
   * The name of a Pod that runs as the ServiceAccount: the token is bound to it, as the token that a kubelet mounts into
   * it. The API server then knows the Pod and its node, and rejects the token once the Pod is gone. Defaults to a token
   * that is bound to no Pod.
   */
  readonly pod?: string | undefined;
}

/** Component is a process of a real control plane. */
export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

/** ControlPlaneAccess lists what a client can do with a control plane that it did not start. */
export interface ControlPlaneAccess {
  readonly kind: 'embedded' | 'kubernetes';
  /** The API server's address. */
  readonly url: string;
  /** The API server's version, for instance `v1.35.8`. */
  readonly version: string;
  /** kubeconfig returns a self-contained kubeconfig for an identity. It refers to no other files. */
  kubeconfig(identity: Identity): Promise<KubeconfigDocument>;
  /**
   * transport returns a transport without a socket, with an identity. Close it after use. Undefined unless the control
   * plane runs in this process.
   */
  readonly transport?: ((identity: Identity) => Promise<Transport>) | undefined;
  /**
   * audit returns the requests that the API server finished at or after `since` (milliseconds since the epoch; defaults
   * to the beginning), oldest first. A request is recorded before its client sees the end of the response.
   */
  audit(since?: number): Promise<readonly AuditEvent[]>;
}

/** Faults injects failures on purpose. */
export interface Faults {
  /** pause suspends a component without ending it: connections stay open and get no response. */
  pause(component: Component): void;
  /** resume continues a paused component. */
  resume(component: Component): void;
  /**
   * compact makes etcd discard every revision but the newest. A watch from an older one is refused with 410 once the
   * API server no longer has it in memory, which a restart of the API server ensures.
   */
  compact(): Promise<void>;
}

/** Timings reports how long the phases of a start took, in milliseconds. */
export interface Timings {
  /** Finding the binaries, or building them. */
  readonly binariesMs: number;
  /** Starting the supervisor process and issuing the certificates, in parallel. */
  readonly prepareMs: number;
  /** Until etcd and the API server were ready. */
  readonly apiServerMs: number;
  /**
   * Until the controllers had created the default ServiceAccount, the scheduler was ready and the nodes had reported.
   */
  readonly controllersMs: number;
  readonly totalMs: number;
}

/** ControlPlane is a running control plane. Dispose of it, or call `stop`, to end it without leftovers. */
export interface ControlPlane extends ControlPlaneAccess, AsyncDisposable {
  /** The folder with certificates, logs and data; temporary unless `dataDir` was given. */
  readonly folder: string;
  readonly timings: Timings;
  readonly faults: Faults;
  /**
   * Simulates the nodes: Pods on them become ready, or do what a test requests. Undefined when started with 0 nodes.
   */
  readonly nodeAgent: NodeAgent | undefined;
  /**
   * restart asks a component to end, kills it if it has not ended after a second (open watches keep an API server
   * running for a minute), starts it and resolves when it is ready. A component that is not running is only started.
   * Defaults to all components.
   */
  restart(component?: Component): Promise<void>;
  /** kill ends a component immediately, like a crash, and resolves when it is gone. `restart` starts it again. */
  kill(component: Component): Promise<void>;
  /** pid returns a component's process id while it runs. */
  pid(component: Component): number | undefined;
  /** stop ends every process and removes temporary files. */
  stop(): Promise<void>;
}
