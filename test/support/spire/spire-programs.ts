import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../../bench/support/run-program.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** SpirePrograms holds the paths of the real SPIRE programs. */
export interface SpirePrograms {
  readonly server: string;
  readonly agent: string;
  readonly oidcDiscoveryProvider: string;
  readonly controllerManager: string;
}

/** SpireAvailability holds the SPIRE programs for tests, or the reason why they are unavailable. */
export type SpireAvailability = { readonly programs: SpirePrograms } | { readonly skippedBecause: string };

/** A Go module without Go source whose programs are built together. */
interface ProgramModule {
  readonly folder: string;
  /** File name to package. */
  readonly packages: Readonly<Record<string, string>>;
  /** For messages. */
  readonly duration: string;
}

/** SPIRE's datastore plugin compiles sqlite, so its module needs a C compiler. */
const spire: ProgramModule = {
  folder: fileURLToPath(new URL('.', import.meta.url)),
  packages: {
    'spire-server': 'github.com/spiffe/spire/cmd/spire-server',
    'spire-agent': 'github.com/spiffe/spire/cmd/spire-agent',
    'oidc-discovery-provider': 'github.com/spiffe/spire/support/oidc-discovery-provider',
  },
  duration: 'about 8 minutes',
};

/** A module of its own, because it selects other versions of the Kubernetes packages than SPIRE. */
const controllerManager: ProgramModule = {
  folder: fileURLToPath(new URL('controller-manager/', import.meta.url)),
  packages: { 'spire-controller-manager': 'github.com/spiffe/spire-controller-manager/cmd' },
  duration: 'about 2 minutes',
};

/** Four times as long as a build takes on two idle cores, which are seldom idle. */
const BUILD_LIMIT_MS = 2_400_000;

/**
 * spirePrograms returns the real SPIRE programs, built once from the Go modules in this folder into the cache outside the work
 * tree. They are used only in tests; nothing of them is shipped.
 */
export async function spirePrograms(log: (line: string) => void = console.error): Promise<SpireAvailability> {
  const folders = [await cacheFolder(spire), await cacheFolder(controllerManager)] as const;
  if (!folders.every((folder) => existsSync(folder))) {
    const go = await findProgram('go', process.env);
    if (go === undefined) {
      return {
        skippedBecause:
          'no SPIRE: install Go 1.25 or later (https://go.dev/dl) and a C compiler, with which it is built once, in about 10 minutes',
      };
    }
    const compiler = await missingCompiler(go);
    if (compiler !== undefined) {
      return {
        skippedBecause: `no SPIRE: ${compiler}, the C compiler with which its sqlite is built, is missing; install it, or set CC to another one`,
      };
    }
    await buildOnce(go, spire, folders[0], log);
    await buildOnce(go, controllerManager, folders[1], log);
  }
  return {
    programs: {
      server: join(folders[0], 'spire-server'),
      agent: join(folders[0], 'spire-agent'),
      oidcDiscoveryProvider: join(folders[0], 'oidc-discovery-provider'),
      controllerManager: join(folders[1], 'spire-controller-manager'),
    },
  };
}

/** Returns the name of Go's C compiler if it is not installed. It may have arguments, as in `ccache gcc`. */
async function missingCompiler(go: string): Promise<string | undefined> {
  const text = await runProgram(go, ['env', 'CC'], { cwd: spire.folder, env: buildEnvironment() });
  const name = text.trim().split(/\s+/)[0] ?? '';
  if (name.includes('/')) return existsSync(name) ? undefined : name;
  return (await findProgram(name, process.env)) === undefined ? name : undefined;
}

async function buildOnce(
  go: string,
  module: ProgramModule,
  folder: string,
  log: (line: string) => void,
): Promise<void> {
  if (existsSync(folder)) return;
  const names = Object.keys(module.packages).join(', ');
  await mkdir(dirname(folder), { recursive: true });
  await using _lock = await lockFile(`${folder}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is building ${names}`),
  });
  if (existsSync(folder)) return;
  // The holder of the lock may remove the leftovers of an interrupted build.
  for (const entry of await readdir(dirname(folder))) {
    if (entry.startsWith(`${basename(folder)}.build-`)) {
      await rm(join(dirname(folder), entry), { recursive: true, force: true });
    }
  }
  const work = `${folder}.build-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  try {
    log(`building ${names} with ${go} into ${folder} (once, ${module.duration})`);
    for (const [name, path] of Object.entries(module.packages)) {
      const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', join(work, name), path];
      await runProgram(go, args, { cwd: module.folder, env: buildEnvironment(), timeoutMs: BUILD_LIMIT_MS });
    }
    await rename(work, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A go.work file or another toolchain would build something other than what go.sum describes. */
function buildEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: '1', GOTOOLCHAIN: 'local', GOWORK: 'off' };
}

/** Named after its sources, so that it is never used for another version. */
async function cacheFolder({ folder }: ProgramModule): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(await readFile(join(folder, name))).update('\0');
  const base = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bowline', 'spire');
  return join(base, `${hash.digest('hex').slice(0, 16)}-${process.platform}-${process.arch}`);
}
