import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { ConnectionConfig } from '../transport/connection-config.ts';
import { tokenFileCredentials } from './token-file.ts';

/** InClusterOptions configures the connection from a pod to its own cluster. */
export interface InClusterOptions {
  /** The process environment, from which KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder with the service account's files. Defaults to /var/run/secrets/kubernetes.io/serviceaccount. */
  readonly folder?: string | undefined;
  /** Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/** isInCluster returns whether this process runs in a pod. */
export function isInCluster(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST) && Boolean(env.KUBERNETES_SERVICE_PORT);
}

/**
 * inClusterConfig returns the connection config of the pod's service account. The token and the CA are read again when
 * they rotate.
 */
export async function inClusterConfig(options: InClusterOptions): Promise<ConnectionConfig> {
  const { env } = options;
  const folder = options.folder ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new BowlineError(
      'BOWLINE_NOT_IN_CLUSTER',
      'this process does not run in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): use a kubeconfig',
    );
  }
  const source = `the service account in ${folder}`;
  const credentials = tokenFileCredentials({
    path: join(folder, 'token'),
    source,
    wire: options.wire,
    log: options.log,
  });
  await credentials.headers();
  const ca = (): Promise<string> => readRequired(join(folder, 'ca.crt'), source);
  await ca();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca,
    credentials,
    namespace: await readFile(join(folder, 'namespace'), 'utf8').then(
      (text) => text.trim() || undefined,
      () => undefined,
    ),
    source,
  };
}

async function readRequired(path: string, source: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new BowlineError(
      'BOWLINE_CREDENTIALS_FILE',
      `cannot read ${path} (${source}): check automountServiceAccountToken of the pod and its service account`,
      { cause, retryable: true },
    );
  }
}
