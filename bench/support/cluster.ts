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
}

/** openCluster starts etcd, the API server and the controllers on loopback. */
export async function openCluster(log: (line: string) => void): Promise<BenchCluster> {
  const plane = await startControlPlane({ kind: 'kubernetes', nodes: 0, onProgress: log });
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
    [Symbol.asyncDispose]: () => plane.stop(),
  };
}
