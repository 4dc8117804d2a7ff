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

/** KubeconfigCredentials is how the kubeconfig's user proves who they are. */
export type KubeconfigCredentials =
  | { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  | { readonly token: string };

/** KubeconfigParts is what a kubeconfig is made of. */
export interface KubeconfigParts {
  readonly server: string;
  readonly authorityPem: string;
  /** What the user is called in the file; the server does not see it. */
  readonly user: string;
  readonly credentials: { readonly certificatePem: string; readonly keyPem: string } | { readonly token: string };
  /** Defaults to kubectl's own default. */
  readonly namespace?: string | undefined;
}

/** kubeconfigDocument assembles a kubeconfig that carries everything inside. */
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
 * writeKubeconfig writes a kubeconfig that only its owner can read. The file appears, or changes, at once: whoever waits
 * for it never reads half of it. It is JSON, which every reader of kubeconfigs takes as the YAML that it also is.
 */
export async function writeKubeconfig(path: string, kubeconfig: KubeconfigDocument): Promise<void> {
  const target = resolve(path);
  const work = `${target}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(work, `${JSON.stringify(kubeconfig, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    // The mode of a new file is subject to the umask, which can only take rights away.
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
