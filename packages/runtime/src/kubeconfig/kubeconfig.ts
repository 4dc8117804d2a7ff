import { BowlineError } from '../errors/bowline-error.ts';

/** KubeconfigCluster holds the address of a server and how to verify it. */
export interface KubeconfigCluster {
  readonly server: string;
  readonly certificateAuthority?: string;
  readonly certificateAuthorityData?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  /** Cluster information that is passed to exec plugins. */
  readonly execConfig?: unknown;
}

/** KubeconfigExec describes a command that returns credentials. */
export interface KubeconfigExec {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
}

/** KubeconfigUser holds the credentials of a user. */
export interface KubeconfigUser {
  readonly clientCertificate?: string;
  readonly clientCertificateData?: string;
  readonly clientKey?: string;
  readonly clientKeyData?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonate?: {
    readonly user: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
  readonly exec?: KubeconfigExec;
}

/** KubeconfigContext combines a user and a cluster. */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** Entry is a named entry and the file that contains it; relative paths in the entry are relative to that file. */
export interface Entry<T> {
  readonly file: string;
  readonly value: T;
}

/** Kubeconfig is the content of one file, or of several merged files. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

/**
 * parseKubeconfig parses the text of a kubeconfig, YAML or JSON. `file` is its name in messages and the base of
 * relative paths.
 */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  const root = new Node(await parseText(text, file), file, '');
  return {
    files: [file],
    currentContext: root.text('current-context') || undefined,
    clusters: root.named('clusters', 'cluster', parseCluster),
    users: root.named('users', 'user', parseUser),
    contexts: root.named('contexts', 'context', parseContext),
  };
}

/** mergeKubeconfigs merges files as kubectl does: the first file that defines an entry wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = <T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> =>
    new Map(maps.toReversed().flatMap((map) => [...map]));
  return {
    files: configs.flatMap((config) => config.files),
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    clusters: merge(configs.map((config) => config.clusters)),
    users: merge(configs.map((config) => config.users)),
    contexts: merge(configs.map((config) => config.contexts)),
  };
}

/** invalidKubeconfig returns the error for a file with invalid content. */
export function invalidKubeconfig(file: string, problem: string): BowlineError {
  return new BowlineError('BOWLINE_KUBECONFIG_INVALID', `kubeconfig ${file}: ${problem}`);
}

async function parseText(text: string, file: string): Promise<unknown> {
  try {
    if (text.trimStart().startsWith('{')) return JSON.parse(text);
    const { parse } = await import('yaml');
    return parse(text);
  } catch (error) {
    // The parser's own message quotes the text, which may contain a key: only the line number is safe to repeat.
    const line = (error as { linePos?: readonly { line: number }[] }).linePos?.[0]?.line;
    throw invalidKubeconfig(file, `not valid YAML${line === undefined ? '' : ` at line ${line}`}; correct the syntax`);
  }
}

function parseCluster(node: Node): KubeconfigCluster {
  const server = node.text('server');
  if (!server) throw node.problem('server', 'is missing; set the API server as https://host:port');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw node.problem('server', 'is not a URL; set the API server as https://host:port');
  }
  const proxyUrl = node.text('proxy-url');
  if (proxyUrl && !/^https?:$/.test(URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : '')) {
    throw node.problem('proxy-url', 'must start with http:// or https://; other proxies are not supported');
  }
  return node.compact({
    server,
    certificateAuthority: node.text('certificate-authority'),
    certificateAuthorityData: node.text('certificate-authority-data'),
    insecureSkipTlsVerify: node.boolean('insecure-skip-tls-verify'),
    tlsServerName: node.text('tls-server-name'),
    proxyUrl,
    execConfig: node
      .list('extensions')
      .find((extension) => extension.text('name') === 'client.authentication.k8s.io/exec')
      ?.raw('extension'),
  });
}

function parseContext(node: Node): KubeconfigContext {
  const cluster = node.text('cluster');
  if (!cluster) throw node.problem('cluster', 'is missing; name one of the clusters');
  return node.compact({ cluster, user: node.text('user'), namespace: node.text('namespace') });
}

function parseUser(node: Node): KubeconfigUser {
  if (node.raw('auth-provider') !== undefined) {
    throw node.problem('auth-provider', 'is no longer supported by Kubernetes clients; use an exec plugin');
  }
  const as = node.text('as');
  return node.compact({
    clientCertificate: node.text('client-certificate'),
    clientCertificateData: node.text('client-certificate-data'),
    clientKey: node.text('client-key'),
    clientKeyData: node.text('client-key-data'),
    token: node.text('token'),
    tokenFile: node.text('tokenFile'),
    username: node.text('username'),
    password: node.text('password'),
    impersonate: as
      ? node.compact({
          user: as,
          uid: node.text('as-uid'),
          groups: node.strings('as-groups'),
          extra: node.stringLists('as-user-extra'),
        })
      : undefined,
    exec: node.raw('exec') === undefined || node.raw('exec') === null ? undefined : parseExec(node.child('exec')),
  });
}

const INTERACTIVE_MODES: readonly KubeconfigExec['interactiveMode'][] = ['Never', 'IfAvailable', 'Always'];

function parseExec(node: Node): KubeconfigExec {
  const apiVersion = node.text('apiVersion') ?? '';
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    throw node.problem(
      'apiVersion',
      'must be client.authentication.k8s.io/v1 or v1beta1; update the plugin and this entry',
    );
  }
  const command = node.text('command');
  if (!command) throw node.problem('command', 'is missing; name the plugin to run');
  const mode = node.text('interactiveMode') ?? 'IfAvailable';
  const interactiveMode = INTERACTIVE_MODES.find((known) => known === mode);
  if (!interactiveMode) throw node.problem('interactiveMode', `must be one of ${INTERACTIVE_MODES.join(', ')}`);
  const env: Record<string, string> = {};
  for (const item of node.list('env')) env[item.text('name') ?? ''] = item.text('value') ?? '';
  return node.compact({
    apiVersion,
    command,
    args: node.strings('args'),
    env,
    installHint: node.text('installHint'),
    provideClusterInfo: node.boolean('provideClusterInfo') ?? false,
    interactiveMode,
  });
}

/** Compact removes the fields that are undefined, as `exactOptionalPropertyTypes` requires. */
type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Node is a position in the document that knows its path, so that every error names the field. Errors never quote a
 * value.
 */
class Node {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalidKubeconfig(
        file,
        `${path === '' ? 'the document' : path} must be a mapping; see kubectl config view`,
      );
    }
    this.#value = value as Readonly<Record<string, unknown>>;
    this.#file = file;
    this.#path = path;
  }

  problem(field: string, problem: string): BowlineError {
    return invalidKubeconfig(this.#file, `${this.#path === '' ? field : `${this.#path}.${field}`} ${problem}`);
  }

  raw(field: string): unknown {
    return this.#value[field];
  }

  child(field: string): Node {
    return new Node(this.#value[field], this.#file, this.#path === '' ? field : `${this.#path}.${field}`);
  }

  text(field: string): string | undefined {
    const value = this.#value[field] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    // YAML parses names such as 123 as numbers.
    if (typeof value === 'number') return String(value);
    throw this.problem(field, 'must be a string');
  }

  boolean(field: string): boolean | undefined {
    const value = this.#value[field] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.problem(field, 'must be true or false');
  }

  list(field: string): Node[] {
    const value = this.#value[field] ?? [];
    if (!Array.isArray(value)) throw this.problem(field, 'must be a list');
    const path = this.#path === '' ? field : `${this.#path}.${field}`;
    return value.map((item, index) => new Node(item, this.#file, `${path}[${index}]`));
  }

  strings(field: string): string[] {
    const value = this.#value[field] ?? [];
    if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) {
      throw this.problem(field, 'must be a list of strings');
    }
    return value;
  }

  stringLists(field: string): Record<string, readonly string[]> {
    if ((this.#value[field] ?? undefined) === undefined) return {};
    const child = this.child(field);
    return Object.fromEntries(Object.keys(child.#value).map((name) => [name, child.strings(name)]));
  }

  named<T>(field: string, inner: string, parse: (node: Node) => T): ReadonlyMap<string, Entry<T>> {
    const map = new Map<string, Entry<T>>();
    for (const item of this.list(field)) {
      const name = item.text('name');
      if (!name) throw item.problem('name', 'is missing');
      if (!map.has(name)) map.set(name, { file: this.#file, value: parse(item.child(inner)) });
    }
    return map;
  }

  compact<T extends object>(fields: T): Compact<T> {
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Compact<T>;
  }
}
