import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../../bench/support/run-program.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** Moto is an installed moto (a third-party implementation of AWS), or why there is none. */
export type Moto = InstalledMoto | { readonly skippedBecause: string };

/** InstalledMoto holds the Python that runs it and the folder of its packages. */
export interface InstalledMoto {
  readonly python: string;
  readonly packages: string;
}

/** Its requirements with exact versions: the server with Secrets Manager, STS and IAM, without what other services need. */
const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
const INSTALL_LIMIT_MS = 600_000;

/**
 * ensureMoto installs moto once into the cache outside the work tree, with any Python on the machine and without changing it: a
 * folder of packages needs no virtual environment.
 */
export async function ensureMoto(log: (line: string) => void = console.error): Promise<Moto> {
  const python = await findProgram('python3', process.env);
  if (python === undefined) return { skippedBecause: 'no moto: install Python 3.10 or later with pip' };
  const options = { cwd: dirname(requirements), env: process.env };
  const version = 'import sys; print(sys.implementation.cache_tag, end="")';
  const packages = await cacheFolder(await runProgram(python, ['-c', version], options));
  if (existsSync(packages)) return { python, packages };
  await using _lock = await lockFile(`${packages}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is installing moto`),
  });
  if (existsSync(packages)) return { python, packages };
  const work = `${packages}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  try {
    log(`installing moto with ${python} into ${packages} (once, about a minute)`);
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-deps'];
    const install = [...pip, '--target', work, '--requirement', requirements];
    const env = { ...process.env, PIP_ROOT_USER_ACTION: 'ignore' };
    await runProgram(python, install, { ...options, env, timeoutMs: INSTALL_LIMIT_MS });
    await rename(work, packages);
    return { python, packages };
  } catch (error) {
    return {
      skippedBecause: `no moto: ${error instanceof Error ? error.message.split('\n', 3).join('; ') : String(error)}`,
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Named after the requirements and the Python version, so that it is never used for another version. */
async function cacheFolder(python: string): Promise<string> {
  const sum = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16);
  const base = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', 'moto');
  await mkdir(base, { recursive: true });
  return join(base, `${sum}-${python}-${process.platform}-${process.arch}`);
}
