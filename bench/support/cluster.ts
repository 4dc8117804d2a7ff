import { type ControlPlane, type KubeconfigDocument, startControlPlane } from '@bowline/control-plane';
import type { Connection } from './connection.ts';

/** BenchCluster is a real control plane of this run alone. */
export interface BenchCluster extends AsyncDisposable {
  /** The server's version, without the leading v. */
  readonly version: string;
  /** The administrator's kubeconfig. */
  readonly kubeconfig: KubeconfigDocument;
  readonly connection: Connection;
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
    connection: connectionOf(kubeconfig),
    [Symbol.asyncDispose]: () => plane.stop(),
  };
}

function connectionOf({ clusters, users }: KubeconfigDocument): Connection {
  const { user } = users[0];
  if (!('client-certificate-data' in user)) throw new TypeError('the administrator has no client certificate');
  return {
    server: clusters[0].cluster.server,
    ca: text(clusters[0].cluster['certificate-authority-data']),
    cert: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  };
}

function text(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
