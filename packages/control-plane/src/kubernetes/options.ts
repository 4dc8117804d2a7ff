import type { BowlineError } from '@bowline/runtime';
import type { Environment } from '../binaries/find-binaries.ts';
import type { SupervisorCommand } from '../supervisor/supervisor.ts';

/** KubernetesOptions configures a real control plane. */
export interface KubernetesOptions {
  readonly kind: 'kubernetes';
  /** The API server's port on 127.0.0.1. Defaults to a free port. */
  readonly port?: number | undefined;
  /**
   * Keeps data, certificates and logs in this folder, so that a later start continues with them. Defaults to a temporary folder.
   */
  readonly dataDir?: string | undefined;
  /**
   * Runs kube-controller-manager. Defaults to true. If false, nothing manages namespaces, ServiceAccounts, owners and workloads;
   * use it to run other controllers instead.
   */
  readonly controllerManager?: boolean | undefined;
  /** Runs kube-scheduler. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /**
   * Runs the workload controllers (Deployments, Jobs, …), quotas and nodes. Defaults to true. If false, only garbage collection,
   * namespaces, ServiceAccounts, aggregated roles and the status of admission policies are managed.
   */
  readonly workloads?: boolean | undefined;
  /**
   * The number of nodes simulated by the node agent, so that Pods become ready; see `ControlPlane.nodeAgent`. Defaults to 2; 0
   * disables the agent.
   */
  readonly nodes?: number | undefined;
  /**
   * Additional flags for kube-apiserver, which take precedence over the launcher's, for example `--goaway-chance=0.02`,
   * `--etcd-compaction-interval=5s` or `--watch-cache=false`. Defaults to none.
   */
  readonly apiServerFlags?: readonly string[] | undefined;
  /** The required Kubernetes version, such as `1.35.8` or `1.35`. Defaults to the version of the binaries. */
  readonly version?: string | undefined;
  /** Called with a line of text when something takes long. Defaults to nothing. */
  readonly onProgress?: ((line: string) => void) | undefined;
  /**
   * Called when a component exits unexpectedly after the start; the error contains the end of its log. Controller manager and
   * scheduler are then started again. Defaults to nothing.
   */
  readonly onCrash?: ((error: BowlineError) => void) | undefined;
  /** Aborts the start. A running control plane is stopped with `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** How long each component may take to become ready. Defaults to 60 s. */
  readonly readyTimeoutMs?: number | undefined;
  /** The command of the supervisor process. Defaults to this package's own bin; a bundled program passes itself. */
  readonly supervisor?: SupervisorCommand | undefined;
  /** The environment, read for KUBEBUILDER_ASSETS, PATH and XDG_CACHE_HOME. Defaults to that of the process. */
  readonly env?: Environment | undefined;
  /** The Go module to build missing binaries from. Defaults to that of this package. */
  readonly moduleDir?: string | undefined;
}
