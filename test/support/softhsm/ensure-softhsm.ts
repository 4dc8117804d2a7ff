import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../bench/support/run-program.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** SoftHsm is an installed SoftHSM2 (a PKCS#11 module that keeps tokens in files), or why there is none. */
export type SoftHsm = InstalledSoftHsm | { readonly skippedBecause: string };

/** InstalledSoftHsm holds the paths of SoftHSM2, and of OpenSC's pkcs11-tool if it is available. */
export interface InstalledSoftHsm {
  readonly library: string;
  readonly util: string;
  readonly pkcs11Tool: { readonly program: string; readonly libraryPath: string | undefined } | undefined;
}

/** Relative to the root of an installation. */
const LIBRARIES = [
  'usr/lib/softhsm/libsofthsm2.so',
  'usr/lib64/softhsm/libsofthsm2.so',
  'usr/lib64/pkcs11/libsofthsm2.so',
  'usr/local/lib/softhsm/libsofthsm2.so',
];
const SOFTHSM_PACKAGES = ['softhsm2', 'softhsm2-common', 'libsofthsm2'];
const OPENSC_PACKAGES = ['opensc', 'opensc-pkcs11'];
const INSTALL_LIMIT_MS = 300_000;

/**
 * ensureSoftHsm returns SoftHSM2 of the system. If there is none, Debian's packages are unpacked once into the cache outside the
 * work tree, which needs no privileges.
 */
export async function ensureSoftHsm(log: (line: string) => void = console.error): Promise<SoftHsm> {
  const system = await findInstalled('/', await findProgram('softhsm2-util', process.env));
  if (system) return system;
  const base = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', 'softhsm');
  const folder = join(base, `debian-${process.platform}-${process.arch}`);
  if (!existsSync(folder)) {
    const apt = await findProgram('apt-get', process.env);
    const dpkg = await findProgram('dpkg', process.env);
    if (apt === undefined || dpkg === undefined) {
      return { skippedBecause: 'no SoftHSM2: install the package softhsm2 (softhsm on other systems than Debian)' };
    }
    await mkdir(base, { recursive: true });
    await using _lock = await lockFile(`${folder}.lock`, {
      onWait: (pid) => log(`waiting for process ${pid}, which is installing SoftHSM2`),
    });
    const failure = existsSync(folder) ? undefined : await install(apt, dpkg, folder, log);
    if (failure !== undefined) return { skippedBecause: `no SoftHSM2: ${failure}` };
  }
  const installed = await findInstalled(folder, join(folder, 'usr/bin/softhsm2-util'));
  return installed ?? { skippedBecause: `no SoftHSM2: ${folder} is incomplete; remove it` };
}

async function findInstalled(root: string, util: string | undefined): Promise<InstalledSoftHsm | undefined> {
  const library = LIBRARIES.map((path) => join(root, path)).find((path) => existsSync(path));
  if (util === undefined || library === undefined || !existsSync(util)) return undefined;
  return { library, util, pkcs11Tool: await findPkcs11Tool(root) };
}

async function findPkcs11Tool(root: string): Promise<InstalledSoftHsm['pkcs11Tool']> {
  const system = await findProgram('pkcs11-tool', process.env);
  if (system !== undefined) return { program: system, libraryPath: undefined };
  const program = join(root, 'usr/bin/pkcs11-tool');
  if (root === '/' || !existsSync(program)) return undefined;
  // Its own library is in a folder that is named after the machine.
  const lib = join(root, 'usr/lib');
  const machine = (await readdir(lib)).find((entry) => entry.endsWith('-linux-gnu'));
  return { program, libraryPath: machine === undefined ? undefined : join(lib, machine) };
}

/** install returns why it failed. */
async function install(
  apt: string,
  dpkg: string,
  folder: string,
  log: (line: string) => void,
): Promise<string | undefined> {
  const work = `${folder}.new-${randomBytes(4).toString('hex')}`;
  const root = join(work, 'root');
  const packages = join(work, 'packages');
  for (const path of [root, packages, join(work, 'lists/partial'), join(work, 'cache/archives/partial')]) {
    await mkdir(path, { recursive: true });
  }
  const run = (program: string, args: readonly string[]): Promise<string> =>
    runProgram(program, args, { cwd: packages, env: process.env, timeoutMs: INSTALL_LIMIT_MS });
  // Lists of our own: those of the system may be missing, and only root may update them.
  const lists = ['-o', `Dir::State::lists=${work}/lists`, '-o', `Dir::Cache=${work}/cache`];
  const download = async (names: readonly string[]): Promise<void> => {
    try {
      await run(apt, ['download', ...names]);
    } catch {
      await run(apt, [...lists, '-o', 'Debug::NoLocking=1', 'update']);
      await run(apt, [...lists, 'download', ...names]);
    }
  };
  try {
    log(`unpacking SoftHSM2 into ${folder} (once, some seconds)`);
    await download(SOFTHSM_PACKAGES);
    // Only some checks need it.
    await download(OPENSC_PACKAGES).catch((error: unknown) => log(`no pkcs11-tool: ${messageOf(error)}`));
    for (const file of await readdir(packages)) await run(dpkg, ['-x', file, root]);
    await rename(root, folder);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.split('\n', 3).join('; ') : String(error);
}
