import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram } from '../../../bench/support/run-program.ts';
import { PKCS11JS } from '../../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';

/** Pkcs11js is the folder of the package pkcs11js, or why there is none. */
export type Pkcs11js = { readonly folder: string } | { readonly skippedBecause: string };

const BUILD_LIMIT_MS = 600_000;
const INSTALL = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1'];

/**
 * ensurePkcs11js builds pkcs11js once into the cache outside the work tree. The package is an optional dependency, which an
 * installation of this repository does not compile. Its binary interface is the same for all versions of Node.
 */
export async function ensurePkcs11js(log: (line: string) => void = console.error): Promise<Pkcs11js> {
  const { name, version } = PKCS11JS;
  const base = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', name);
  const target = join(base, `${version}-${process.platform}-${process.arch}`);
  const folder = join(target, 'node_modules', name);
  if (existsSync(folder)) return { folder };
  await mkdir(base, { recursive: true });
  await using _lock = await lockFile(`${target}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is building ${name}`),
  });
  if (existsSync(folder)) return { folder };
  const work = `${target}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  try {
    log(`building ${name} into ${target} (once, some seconds)`);
    await writeFile(join(work, 'package.json'), JSON.stringify({ private: true }));
    const options = { cwd: work, env: environment(), timeoutMs: BUILD_LIMIT_MS };
    await runProgram('npm', [...INSTALL, `${name}@${version}`], options);
    const binary = join(work, 'node_modules', name, 'build/Release/pkcs11.node');
    // npm may be configured to run no scripts.
    if (!existsSync(binary)) await runProgram('npm', ['rebuild', '--ignore-scripts=false', name], options);
    if (!existsSync(binary)) return { skippedBecause: `no ${name}: npm did not compile it; allow its install script` };
    await rename(work, target);
    return { folder };
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n', 3).join('; ') : String(error);
    return { skippedBecause: `no ${name}: ${message}` };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Node's own headers, if they are installed, save a download. */
function environment(): NodeJS.ProcessEnv {
  const root = dirname(dirname(process.execPath));
  const { npm_config_nodedir: configured } = process.env;
  if (configured || !existsSync(join(root, 'include/node/node_api.h'))) return process.env;
  return { ...process.env, npm_config_nodedir: root };
}
