import { startControlPlane } from '@bowline/control-plane';
import { Secret } from '@bowline/kubernetes';
import { ApiError, type Client, connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import type { SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import { desiredSecret } from '../../../operators/jasm/src/secretsync/desired.ts';
import { secrets } from '../../../operators/jasm/src/secretsync/secrets.ts';

/** SecretServer is an API server on which Secrets are tried without being stored. */
export class SecretServer implements AsyncDisposable {
  /** Its Kubernetes version. */
  readonly version: string;
  readonly #client: Client;
  readonly #stop: () => Promise<void>;

  private constructor(client: Client, version: string, stop: () => Promise<void>) {
    this.#client = client;
    this.version = version;
    this.#stop = stop;
  }

  /** reach returns the server of a kubeconfig, or an embedded one in this process. */
  static async reach(kubeconfig: string | undefined): Promise<SecretServer> {
    if (kubeconfig === undefined) {
      const alone = { listen: false, scheduler: false, workloads: false, nodes: 0 } as const;
      const controlPlane = await startControlPlane({ kind: 'embedded', ...alone });
      const client = createClient({ transport: await controlPlane.transport('admin') });
      return new SecretServer(client, controlPlane.version, () => controlPlane.stop());
    }
    const client = createClient({ transport: connect(await loadKubeconfig({ paths: [kubeconfig] })) });
    const { gitVersion } = JSON.parse(await client.raw('/version')) as { gitVersion: string };
    return new SecretServer(client, gitVersion, () => Promise.resolve());
  }

  /** refusals returns the objections of the server to the Secret of a request with this data. */
  async refusals(request: SecretSyncRequest, data: Readonly<Record<string, string>>): Promise<string[]> {
    try {
      await this.#client.create(Secret, secretOf(request, data), { dryRun: true });
      return [];
    } catch (error) {
      if (error instanceof ApiError) return [`the API server rejects it: ${error.message}`];
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    await this.#stop();
  }
}

/** The Secret as it would be created. A Secret that is merged into keeps its own type. */
function secretOf(request: SecretSyncRequest, data: Readonly<Record<string, string>>): Secret {
  const wanted = {
    request: request.creationPolicy === 'Merge' ? { ...request, type: 'Opaque' } : request,
    deletionPolicy: request.deletionPolicy,
    askedBy: 'Deployment/app',
    version: '1',
    forced: undefined,
    data,
    managedBy: 'caronte',
    restarts: false,
  };
  const key = { namespace: 'default', name: request.secretName };
  return secrets.newObject(key, desiredSecret(undefined, wanted), '2026-01-01T00:00:00Z');
}
