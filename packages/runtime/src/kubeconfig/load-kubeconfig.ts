import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { ConnectionConfig, Credentials } from '../transport/connection-config.ts';
import { tokenCredentials } from '../transport/token-credentials.ts';
import { errorCodeOf } from '../transport/transport-error.ts';
import { basicCredentials, certificateCredentials, combineCredentials } from './credentials.ts';
import { execCredentials } from './exec-plugin.ts';
import {
  type Entry,
  invalidKubeconfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
  mergeKubeconfigs,
  parseKubeconfig,
} from './kubeconfig.ts';
import { tokenFileCredentials } from './token-file.ts';

/** ConnectionOptions selects a context and configures how its credentials are obtained. */
export interface ConnectionOptions {
  /** Defaults to the file's current-context. */
  readonly context?: string | undefined;
  /** The environment of exec plugins. Defaults to this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether exec plugins may prompt on the terminal. Defaults to false. */
  readonly interactive?: boolean | undefined;
  /** Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/** LoadKubeconfigOptions configures which files to read. */
export interface LoadKubeconfigOptions extends ConnectionOptions {
  /** The files; the first one wins where they disagree. A missing file is ignored if another exists. */
  readonly paths: readonly string[];
}

/** defaultKubeconfigPaths returns the files that kubectl would read. */
export function defaultKubeconfigPaths(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}): readonly string[] {
  const listed = (options.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? listed : [join(options.home, '.kube', 'config')];
}

/**
 * loadKubeconfig reads kubeconfig files and returns the connection config of one context.
 *
 * @example
 * const transport = connect(await loadKubeconfig({ paths: ['/etc/bowline/kubeconfig'], context: 'production' }));
 */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<ConnectionConfig> {
  const configs: Kubeconfig[] = [];
  for (const path of options.paths) {
    const text = await readIfExists(path);
    if (text !== undefined) configs.push(await parseKubeconfig(text, path));
  }
  if (configs.length === 0) {
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_NOT_FOUND',
      `no kubeconfig at ${options.paths.join(' or ') || '(no path given)'}: create one, or specify another file`,
    );
  }
  return connectionFrom(mergeKubeconfigs(configs), options);
}

/** connectionFrom returns the connection config of one context of a parsed kubeconfig. */
export function connectionFrom(kubeconfig: Kubeconfig, options: ConnectionOptions = {}): ConnectionConfig {
  const files = kubeconfig.files.join(', ');
  const name = options.context ?? kubeconfig.currentContext;
  if (name === undefined) {
    throw invalidKubeconfig(
      files,
      `no context is selected and current-context is not set; choose one of ${names(kubeconfig.contexts)}`,
    );
  }
  const context = kubeconfig.contexts.get(name);
  if (!context) {
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_CONTEXT',
      `kubeconfig ${files} has no context "${name}": choose one of ${names(kubeconfig.contexts)}`,
    );
  }
  const where = `context "${name}" of ${context.file}`;
  const cluster = kubeconfig.clusters.get(context.value.cluster);
  if (!cluster) {
    throw invalidKubeconfig(
      context.file,
      `context "${name}" refers to the cluster "${context.value.cluster}", which is not in clusters; add it or correct the name`,
    );
  }
  let user: Entry<KubeconfigUser> | undefined;
  if (context.value.user) {
    user = kubeconfig.users.get(context.value.user);
    if (!user) {
      throw invalidKubeconfig(
        context.file,
        `context "${name}" refers to the user "${context.value.user}", which is not in users; add it or correct the name`,
      );
    }
  }
  const { value } = cluster;
  return {
    server: value.server,
    ca: pem(
      cluster,
      `cluster "${context.value.cluster}"`,
      'certificate-authority',
      value.certificateAuthority,
      value.certificateAuthorityData,
    ),
    serverName: value.tlsServerName,
    insecureSkipTlsVerify: value.insecureSkipTlsVerify,
    proxyUrl: value.proxyUrl,
    credentials: user && credentialsOf(user, `user "${context.value.user}"`, cluster, options),
    impersonate: user?.value.impersonate,
    namespace: context.value.namespace,
    source: where,
  };
}

function credentialsOf(
  user: Entry<KubeconfigUser>,
  name: string,
  cluster: Entry<KubeconfigCluster>,
  options: ConnectionOptions,
): Credentials | undefined {
  const { value, file } = user;
  const source = `${name} of ${file}`;
  const parts: Credentials[] = [];
  const certificate = pem(user, name, 'client-certificate', value.clientCertificate, value.clientCertificateData);
  const key = pem(user, name, 'client-key', value.clientKey, value.clientKeyData);
  if (certificate && key) {
    parts.push(certificateCredentials(async () => ({ certificatePem: await certificate(), keyPem: await key() })));
  } else if (certificate || key) {
    throw invalidKubeconfig(
      file,
      `${name} has a client ${certificate ? 'certificate' : 'key'} but no client ${certificate ? 'key' : 'certificate'}; set both`,
    );
  }
  if (value.exec) {
    parts.push(execCredentials({ exec: value.exec, source, folder: dirname(file), cluster, ...options }));
  } else if (value.tokenFile) {
    const path = resolve(dirname(file), value.tokenFile);
    parts.push(
      tokenFileCredentials({
        path,
        source: `tokenFile of ${source}`,
        fallback: value.token,
        wire: options.wire,
        log: options.log,
      }),
    );
  } else if (value.token) {
    parts.push(tokenCredentials(value.token));
  } else if (value.username) {
    parts.push(basicCredentials(value.username, value.password ?? ''));
  }
  return combineCredentials(parts);
}

/**
 * pem returns the inline content of a field (base64), or that of the file it refers to, which is read whenever it is
 * needed.
 */
function pem(
  entry: Entry<unknown>,
  name: string,
  field: string,
  path: string | undefined,
  data: string | undefined,
): (() => Promise<string>) | undefined {
  if (data) {
    const text = Buffer.from(data, 'base64').toString('utf8');
    if (!text.includes('-----BEGIN ')) {
      throw invalidKubeconfig(
        entry.file,
        `${name}: ${field}-data is not base64-encoded PEM; embed the file with kubectl config --embed-certs`,
      );
    }
    return () => Promise.resolve(text);
  }
  if (!path) return undefined;
  const absolute = resolve(dirname(entry.file), path);
  return async () => {
    try {
      return await readFile(absolute, 'utf8');
    } catch (cause) {
      throw new BowlineError(
        'BOWLINE_CREDENTIALS_FILE',
        `cannot read ${absolute} (${field} of ${name} in ${entry.file}, ${errorCodeOf(cause)}): check that the file exists and is readable`,
        { cause, retryable: true },
      );
    }
  };
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return undefined;
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_NOT_FOUND',
      `cannot read the kubeconfig ${path} (${errorCodeOf(cause)}): check that it is a readable file`,
      { cause },
    );
  }
}

function names(map: ReadonlyMap<string, unknown>): string {
  return map.size === 0 ? '(none defined)' : [...map.keys()].sort().join(', ');
}
