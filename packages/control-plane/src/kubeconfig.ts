import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { BowlineError } from '@bowline/machinery';

/** KubeconfigDocument is a kubeconfig with one context, as kubectl reads it. */
export interface KubeconfigDocument {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly [
    {
      readonly name: string;
      readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
    },
  ];
  readonly users: readonly [{ readonly name: string; readonly user: KubeconfigCredentials }];
  readonly contexts: readonly [
    {
      readonly name: string;
      readonly context: { readonly cluster: string; readonly user: string; readonly namespace?: string };
    },
  ];
  readonly 'current-context': string;
}

/** KubeconfigCredentials holds the credentials of the kubeconfig's user. */
export type KubeconfigCredentials =
  | { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  | { readonly token: string };

/** KubeconfigParts holds the values that a kubeconfig is assembled from. */
export interface KubeconfigParts {
  readonly server: string;
  readonly authorityPem: string;
  /** The name of the user in the file; the server does not see it. */
  readonly user: string;
  readonly credentials: { readonly certificatePem: string; readonly keyPem: string } | { readonly token: string };
  /** Defaults to kubectl's own default. */
  readonly namespace?: string | undefined;
}

/** kubeconfigDocument assembles a self-contained kubeconfig. */
export function kubeconfigDocument(parts: KubeconfigParts): KubeconfigDocument {
  const cluster = 'bowline';
  const context = `${parts.user}@${cluster}`;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: cluster, cluster: { server: parts.server, 'certificate-authority-data': base64(parts.authorityPem) } },
    ],
    users: [
      {
        name: parts.user,
        user:
          'token' in parts.credentials
            ? { token: parts.credentials.token }
            : {
                'client-certificate-data': base64(parts.credentials.certificatePem),
                'client-key-data': base64(parts.credentials.keyPem),
              },
      },
    ],
    contexts: [
      {
        name: context,
        context: { cluster, user: parts.user, ...(parts.namespace ? { namespace: parts.namespace } : {}) },
      },
    ],
    'current-context': context,
  };
}

/**
 * writeKubeconfig writes a kubeconfig that only its owner can read. The file is created or replaced atomically, so a
 * process that waits for it never reads half of it. It is JSON, which is valid YAML for every reader of kubeconfigs.
 */
export async function writeKubeconfig(path: string, kubeconfig: KubeconfigDocument): Promise<void> {
  const target = resolve(path);
  const work = `${target}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(work, `${JSON.stringify(kubeconfig, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    // The mode of a new file is subject to the umask, which can only remove permissions.
    await chmod(work, 0o600);
    await rename(work, target);
  } catch (cause) {
    await rm(work, { force: true }).catch(() => {});
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_UNWRITABLE',
      `cannot write the kubeconfig ${target}: ${cause instanceof Error ? cause.message : String(cause)}; choose a file that you may write to`,
      { cause },
    );
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
