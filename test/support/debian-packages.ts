import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../bench/support/run-program.ts';
import { lockFile } from '../../packages/control-plane/src/binaries/file-lock.ts';
import { findProgram } from '../../packages/control-plane/src/binaries/find-binaries.ts';

/** DebianPackagesOptions describes what to unpack. */
export interface DebianPackagesOptions {
  /** The name of the folder in the cache. */
  readonly name: string;
  /** What the packages contain, for messages. */
  readonly title: string;
  readonly packages: readonly string[];
  /** Packages that only some tests need: a failure to get them is logged. Defaults to none. */
  readonly optionalPackages?: readonly string[];
  readonly log: (line: string) => void;
}

const LIMIT_MS = 300_000;

/**
 * unpackDebianPackages unpacks packages once into the cache outside the work tree, without root and without installing them. It
 * returns the folder that stands for the root of the file system, or why there is none.
 */
export async function unpackDebianPackages(
  options: DebianPackagesOptions,
): Promise<{ readonly folder: string } | { readonly skippedBecause: string }> {
  const { name, title, log } = options;
  const base = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', name);
  const folder = join(base, `debian-${process.platform}-${process.arch}`);
  if (existsSync(folder)) return { folder };
  const apt = await findProgram('apt-get', process.env);
  const dpkg = await findProgram('dpkg', process.env);
  if (apt === undefined || dpkg === undefined) {
    return { skippedBecause: `no ${title}: install ${options.packages.join(', ')}, or run on Debian` };
  }
  await mkdir(base, { recursive: true });
  await using _lock = await lockFile(`${folder}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is unpacking ${title}`),
  });
  const failure = existsSync(folder) ? undefined : await unpack(apt, dpkg, folder, options);
  return failure === undefined ? { folder } : { skippedBecause: `no ${title}: ${failure}` };
}

/** unpack returns why it failed. */
async function unpack(
  apt: string,
  dpkg: string,
  folder: string,
  { title, packages, optionalPackages = [], log }: DebianPackagesOptions,
): Promise<string | undefined> {
  const work = `${folder}.new-${randomBytes(4).toString('hex')}`;
  const root = join(work, 'root');
  const downloads = join(work, 'packages');
  for (const path of [root, downloads, join(work, 'lists/partial'), join(work, 'cache/archives/partial')]) {
    await mkdir(path, { recursive: true });
  }
  const run = (program: string, args: readonly string[]): Promise<string> =>
    runProgram(program, args, { cwd: downloads, env: process.env, timeoutMs: LIMIT_MS });
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
    log(`unpacking ${title} into ${folder} (once, some seconds)`);
    await download(packages);
    if (optionalPackages.length > 0) {
      await download(optionalPackages).catch((error: unknown) =>
        log(`without ${optionalPackages.join(', ')}: ${messageOf(error)}`),
      );
    }
    for (const file of await readdir(downloads)) await run(dpkg, ['-x', file, root]);
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
