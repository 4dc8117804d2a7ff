import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { lockFile } from './file-lock.ts';
import {
  allBinaries,
  type Binaries,
  type BinaryName,
  type BinaryOptions,
  cacheFolder,
  defaultModuleDir,
  type Environment,
  findBinaries,
  findProgram,
  type GoModule,
  readModule,
} from './find-binaries.ts';

/** BuildOptions configures a build. */
export interface BuildOptions extends BinaryOptions {
  /** Called with one line of text per step. Defaults to nothing. */
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

const packages: Readonly<Record<BinaryName, string>> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
};

/** ensureBinaries finds the named binaries, or builds all of them once into the cache. */
export async function ensureBinaries<const N extends BinaryName>(
  names: readonly N[],
  options: BuildOptions = {},
): Promise<Binaries<N>> {
  const found = await findBinaries(names, options);
  if (found) return found;
  await buildBinaries(options);
  // A build creates every binary, so the cache now contains the requested ones.
  const folder = await cacheFolder(options);
  return {
    source: 'cache',
    paths: Object.fromEntries(names.map((name) => [name, join(folder, name)])) as Record<N, string>,
  };
}

/**
 * buildBinaries builds every binary from the Go module into the cache and returns the folder. The folder appears atomically once
 * all binaries exist; two processes never build at the same time; a finished build is not repeated.
 */
export async function buildBinaries(options: BuildOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const clock = options.clock ?? systemClock;
  const onProgress = options.onProgress ?? (() => {});
  const module = await readModule(options.moduleDir ?? defaultModuleDir);
  const folder = await cacheFolder(options);
  const isBuilt = (): Promise<boolean> => hasAll(folder);
  if (await isBuilt()) return folder;
  const go = await requireGo(env, folder, module, options.signal);

  await mkdir(dirname(folder), { recursive: true });
  await using _lock = await lockFile(`${folder}.lock`, {
    clock,
    signal: options.signal,
    onWait: (pid) => onProgress(`waiting for process ${pid}, which is building the same binaries`),
  });
  if (await isBuilt()) return folder;
  // The holder of the lock may remove the leftovers of an interrupted build.
  for (const entry of await readdir(dirname(folder))) {
    if (entry.startsWith(`${basename(folder)}.build-`)) {
      await rm(join(dirname(folder), entry), { recursive: true, force: true });
    }
  }
  const work = `${folder}.build-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  const startedAt = clock.monotonic();
  onProgress(
    `building Kubernetes ${module.kubernetes} with ${go} into ${folder}; the first time takes about 6 minutes on 2 cores`,
  );
  try {
    for (const [index, name] of allBinaries.entries()) {
      const elapsed = formatElapsed(clock.monotonic() - startedAt);
      onProgress(`${elapsed} building ${name} (${index + 1} of ${allBinaries.length})`);
      const args = [
        'build',
        '-trimpath',
        '-ldflags',
        linkerFlags(name, module),
        '-o',
        join(work, name),
        packages[name],
      ];
      await runGo(go, args, module.dir, env, options.signal);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(work, folder);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
  onProgress(`${formatElapsed(clock.monotonic() - startedAt)} built ${allBinaries.length} binaries`);
  return folder;
}

/** linkerFlags strips the binaries and sets the version of Kubernetes, which would otherwise report v0.0.0. */
export function linkerFlags(name: BinaryName, module: Pick<GoModule, 'kubernetes'>): string {
  if (name === 'etcd') return '-s -w';
  const [major = '', minor = ''] = module.kubernetes.slice(1).split('.');
  const variables = {
    gitVersion: module.kubernetes,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
  };
  const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(variables).map(([key, value]) => `-X ${path}.${key}=${value}`),
  );
  return ['-s', '-w', ...flags].join(' ');
}

async function requireGo(
  env: Environment,
  folder: string,
  module: GoModule,
  signal: AbortSignal | undefined,
): Promise<string> {
  const go = await findProgram('go', env);
  const ways =
    `set KUBEBUILDER_ASSETS to a folder with ${allBinaries.slice(0, 4).join(', ')}, or put them on the PATH, or install ` +
    `Go ${module.go} or later (https://go.dev/dl) and run \`bowline control-plane build --kind kubernetes\`; until then ` +
    'the tests and commands that need a real control plane are skipped';
  if (!go) {
    throw new BowlineError(
      'BOWLINE_BINARIES_MISSING',
      `no Kubernetes binaries: KUBEBUILDER_ASSETS is not set, the PATH lacks them, ${folder} does not contain them and Go is not on the PATH to build them; ${ways}`,
    );
  }
  const text = await runGo(go, ['env', 'GOVERSION'], module.dir, env, signal);
  const version = /^go(\d+)\.(\d+)/.exec(text.trim());
  const [major = 0, minor = 0] = module.go.split('.').map(Number);
  if (version && (Number(version[1]) < major || (Number(version[1]) === major && Number(version[2]) < minor))) {
    throw new BowlineError(
      'BOWLINE_BINARIES_MISSING',
      `no Kubernetes binaries, and ${go} is ${text.trim()}, too old to build them; ${ways}`,
    );
  }
  return go;
}

async function hasAll(folder: string): Promise<boolean> {
  const found = await findBinaries(allBinaries, { env: { KUBEBUILDER_ASSETS: folder } }).catch(() => undefined);
  return found !== undefined;
}

/** runGo runs the Go tool and returns its output; an error contains the last lines it printed. */
async function runGo(
  go: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
  signal: AbortSignal | undefined,
): Promise<string> {
  const child = spawn(go, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A go.work file, vendoring or another toolchain would build something other than what go.sum describes.
    env: { ...env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly' },
    signal,
  });
  const output = tailOf(child.stdout);
  const problems = tailOf(child.stderr);
  const { code, error } = await ended(child);
  signal?.throwIfAborted();
  if (code !== 0) {
    throw new BowlineError(
      'BOWLINE_BINARIES_BUILD',
      `building the Kubernetes binaries failed: \`go ${args[0]} … ${args.at(-1)}\` in ${cwd} exited with ${code ?? error?.message}; ` +
        'if it could not download, set GOPROXY to a reachable module proxy, then run `bowline control-plane build --kind kubernetes` again\n' +
        problems(),
      { cause: error },
    );
  }
  return output();
}

/**
 * ended resolves when the child has exited. An abort is reported as an error while the child still runs, and its exit is awaited.
 */
function ended(child: ChildProcess): Promise<{ code: number | null; error?: Error | undefined }> {
  return new Promise((resolve) => {
    let error: Error | undefined;
    child.once('error', (reason) => {
      error = reason;
      if (child.pid === undefined) resolve({ code: null, error });
    });
    child.once('close', (code) => resolve({ code, error }));
  });
}

/** tailOf keeps the last characters of a stream. */
function tailOf(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(-4000);
  });
  return () => text;
}

function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `[${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')}]`;
}
