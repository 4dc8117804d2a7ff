import { type ControlPlane, type KubeconfigDocument, startControlPlane } from '@bowline/control-plane';
import { type Connection, connectionOf } from './connection.ts';

/** BenchCluster is a real control plane for this run only. */
export interface BenchCluster extends AsyncDisposable {
  /** The server's version, without the leading v. */
  readonly version: string;
  /** The administrator's kubeconfig. */
  readonly kubeconfig: KubeconfigDocument;
  /** kubeconfigFor returns the kubeconfig of another identity. */
  kubeconfigFor: ControlPlane['kubeconfig'];
  readonly connection: Connection;
  /** How long its start took, from the first process to the last controller. */
  readonly startMs: number;
  /** The processes that serve requests: etcd and the API server. */
  readonly serverPids: readonly number[];
  /** audit returns the requests since a time. */
  audit: ControlPlane['audit'];
}

/** ClusterOptions configures which components run. */
export interface ClusterOptions {
  /** Runs the scheduler, and the controllers of workloads and nodes. Defaults to true. */
  readonly workloads?: boolean;
  /** The simulated nodes, on which pods become ready. Defaults to 0. */
  readonly nodes?: number;
}

/** openCluster starts etcd, the API server and the controllers on loopback. */
export async function openCluster(log: (line: string) => void, options: ClusterOptions = {}): Promise<BenchCluster> {
  const { workloads = true, nodes = 0 } = options;
  const parts = { nodes, workloads, scheduler: workloads };
  const plane = await startControlPlane({ kind: 'kubernetes', ...parts, onProgress: log });
  try {
    const kubeconfig = await plane.kubeconfig('admin');
    return describe(plane, kubeconfig);
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

function describe(plane: ControlPlane, kubeconfig: KubeconfigDocument): BenchCluster {
  return {
    version: plane.version.replace(/^v/, ''),
    kubeconfig,
    kubeconfigFor: (identity) => plane.kubeconfig(identity),
    connection: connectionOf(kubeconfig),
    startMs: plane.timings.totalMs - plane.timings.binariesMs,
    serverPids: (['etcd', 'kube-apiserver'] as const).flatMap((component) => plane.pid(component) ?? []),
    audit: (since) => plane.audit(since),
    [Symbol.asyncDispose]: () => plane.stop(),
  };
}
