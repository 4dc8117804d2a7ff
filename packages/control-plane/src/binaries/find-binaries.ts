import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BowlineError } from '@bowline/runtime';

/** BinaryName is a program of Kubernetes that the launcher or its users run. */
export type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl';

/** allBinaries are what a build makes. */
export const allBinaries: readonly BinaryName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
];

/** Environment is a set of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** BinaryOptions say where binaries may be and how they are built. */
export interface BinaryOptions {
  /** Read for KUBEBUILDER_ASSETS, PATH and XDG_CACHE_HOME. Defaults to the process's own. */
  readonly env?: Environment | undefined;
  /** The folder with the go.mod and go.sum to build from. Defaults to this package's. */
  readonly moduleDir?: string | undefined;
}

/** Binaries are programs that were found together in one place, so that their versions fit each other. */
export interface Binaries<N extends BinaryName = BinaryName> {
  readonly source: 'KUBEBUILDER_ASSETS' | 'PATH' | 'cache';
  readonly paths: Readonly<Record<N, string>>;
}

/** defaultModuleDir is the Go module of this package; the relative path is the same from `src` and from `dist`. */
export const defaultModuleDir: string = fileURLToPath(new URL('../../binaries', import.meta.url));

/**
 * findBinaries searches KUBEBUILDER_ASSETS, then the PATH, then the cache, and returns the first location that has all of
 * `names`. Locations are never mixed: a controller manager newer than its API server is not supported. A KUBEBUILDER_ASSETS that
 * lacks some is an error, because the user requested exactly that folder.
 */
export async function findBinaries<const N extends BinaryName>(
  names: readonly N[],
  options: BinaryOptions = {},
): Promise<Binaries<N> | undefined> {
  const env = options.env ?? process.env;
  const assets = env.KUBEBUILDER_ASSETS;
  if (assets) {
    const found = await search(names, [assets]);
    if (found.missing.length > 0) {
      throw new BowlineError(
        'BOWLINE_BINARIES_INCOMPLETE',
        `KUBEBUILDER_ASSETS is ${assets}, which lacks ${found.missing.join(', ')}; put them there (envtest's own ` +
          'archives contain only etcd, kube-apiserver and kubectl), or unset KUBEBUILDER_ASSETS to use the PATH or a build',
      );
    }
    return { source: 'KUBEBUILDER_ASSETS', paths: found.paths };
  }
  const onPath = await search(names, pathFolders(env));
  if (onPath.missing.length === 0) return { source: 'PATH', paths: onPath.paths };
  const folder = await cacheFolder(options).catch((error: unknown) => {
    if (error instanceof BowlineError) return undefined;
    throw error;
  });
  const cached = folder && (await search(names, [folder]));
  return cached && cached.missing.length === 0 ? { source: 'cache', paths: cached.paths } : undefined;
}

/**
 * cacheFolder returns the folder for a build of the Go module: outside any work tree and named after the module's content, so
 * that it is never used for another version.
 */
export async function cacheFolder(options: BinaryOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const { sum } = await readModule(options.moduleDir ?? defaultModuleDir);
  // The XDG specification requires relative paths to be ignored.
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.cache');
  return join(base, 'bowline', 'control-plane', `${sum}-${process.platform}-${process.arch}`);
}

/** GoModule holds the relevant content of the module that the binaries are built from. */
export interface GoModule {
  readonly dir: string;
  /** The Kubernetes version, with its leading v. */
  readonly kubernetes: string;
  /** The oldest Go version that can build it. */
  readonly go: string;
  /** A short hash over go.mod and go.sum. */
  readonly sum: string;
}

/** readModule reads the Go module's versions and content hash. */
export async function readModule(dir: string): Promise<GoModule> {
  let mod: string;
  let sum: string;
  try {
    [mod, sum] = await Promise.all([readFile(join(dir, 'go.mod'), 'utf8'), readFile(join(dir, 'go.sum'), 'utf8')]);
  } catch (cause) {
    throw new BowlineError(
      'BOWLINE_BINARIES_BUILD',
      `cannot read the Go module of the Kubernetes binaries in ${dir}; reinstall @bowline/control-plane, which ships it, or set KUBEBUILDER_ASSETS to a folder with the binaries`,
      { cause },
    );
  }
  const kubernetes = /^\s*(?:require\s+)?k8s\.io\/kubernetes\s+(v\S+)/m.exec(mod)?.[1];
  const go = /^go\s+(\S+)/m.exec(mod)?.[1];
  if (!kubernetes || !go) {
    throw new BowlineError(
      'BOWLINE_BINARIES_BUILD',
      `${join(dir, 'go.mod')} does not require k8s.io/kubernetes at a version or has no go line; restore the file`,
    );
  }
  const hash = createHash('sha256').update(mod).update('\0').update(sum).digest('hex');
  return { dir, kubernetes, go, sum: hash.slice(0, 16) };
}

/** findProgram returns the first executable of that name on the PATH. */
export async function findProgram(name: string, env: Environment): Promise<string | undefined> {
  for (const folder of pathFolders(env)) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

function pathFolders(env: Environment): readonly string[] {
  return (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

async function search<N extends BinaryName>(
  names: readonly N[],
  folders: readonly string[],
): Promise<{ paths: Record<N, string>; missing: readonly N[] }> {
  const found = new Map<N, string>();
  for (const name of names) {
    const path = await findProgram(name, { PATH: folders.join(delimiter) });
    if (path) found.set(name, path);
  }
  // `missing` indicates whether the record is complete; callers use the paths only if it is empty.
  return {
    paths: Object.fromEntries(found) as Record<N, string>,
    missing: names.filter((name) => !found.has(name)),
  };
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
