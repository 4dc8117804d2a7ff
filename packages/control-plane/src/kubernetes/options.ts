import type { BowlineError } from '@bowline/runtime';
import type { Environment } from '../binaries/find-binaries.ts';
import type { SupervisorCommand } from '../supervisor/supervisor.ts';

/** KubernetesOptions describe a real control plane. */
export interface KubernetesOptions {
  readonly kind: 'kubernetes';
  /** The API server's port on 127.0.0.1. Defaults to a free one. */
  readonly port?: number | undefined;
  /** Keeps data, certificates and logs in this folder, so that a later start continues. Defaults to a temporary folder. */
  readonly dataDir?: string | undefined;
  /**
   * Runs kube-controller-manager. Defaults to true; without, nothing looks after namespaces, ServiceAccounts, owners and workloads:
   * for those who bring controllers of their own.
   */
  readonly controllerManager?: boolean | undefined;
  /** Runs kube-scheduler. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /**
   * Runs the controllers of workloads (Deployments, Jobs, …), quotas and nodes. Defaults to true; without, only garbage
   * collection, namespaces, ServiceAccounts and aggregated roles are looked after.
   */
  readonly workloads?: boolean | undefined;
  /**
   * How many nodes the node agent plays, so that Pods become ready; see `ControlPlane.nodeAgent`. Defaults to 2; with 0
   * there is no agent.
   */
  readonly nodes?: number | undefined;
  /**
   * More flags for kube-apiserver; they win over the launcher's. For instance `--goaway-chance=0.02`,
   * `--etcd-compaction-interval=5s` or `--watch-cache=false`. Defaults to none.
   */
  readonly apiServerFlags?: readonly string[] | undefined;
  /** The Kubernetes version that must run, such as `1.35.8` or `1.35`. Defaults to whatever the binaries are. */
  readonly version?: string | undefined;
  /** Called with a line of text when something takes long. Defaults to nothing. */
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Called when a component ends by itself after the start; the error holds the end of its log. Defaults to nothing. */
  readonly onCrash?: ((error: BowlineError) => void) | undefined;
  /** Ends the start. What runs is stopped with `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** How long each component may take to become ready. Defaults to 60 s. */
  readonly readyTimeoutMs?: number | undefined;
  /** How the supervisor process is run. Defaults to this package's own bin; a bundled program names itself. */
  readonly supervisor?: SupervisorCommand | undefined;
  /** Read for KUBEBUILDER_ASSETS, PATH and XDG_CACHE_HOME. Defaults to the process's own. */
  readonly env?: Environment | undefined;
  /** The Go module that missing binaries are built from. Defaults to this package's. */
  readonly moduleDir?: string | undefined;
}
