import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../../bench/support/run-program.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** VaultProgram is a Vault for tests, or why there is none. */
export type VaultProgram = { readonly program: string } | { readonly skippedBecause: string };

const moduleFolder = fileURLToPath(new URL('.', import.meta.url));

/** A build takes about 3 minutes on two idle cores, which are seldom idle. */
const BUILD_LIMIT_MS = 1_800_000;

/**
 * ensureVault returns a real Vault, built once from the Go module in this folder into the cache outside the work tree. It is used
 * only in tests; nothing of it is shipped.
 */
export async function ensureVault(log: (line: string) => void = console.error): Promise<VaultProgram> {
  const folder = await cacheFolder();
  const program = join(folder, 'vault');
  if (existsSync(program)) return { program };
  const go = await findProgram('go', process.env);
  if (go === undefined) {
    return {
      skippedBecause:
        'no Vault: install Go 1.25 or later (https://go.dev/dl), with which it is built once, in about 3 minutes',
    };
  }
  await using _lock = await lockFile(`${folder}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is building Vault`),
  });
  if (existsSync(program)) return { program };
  // The holder of the lock may remove the leftovers of an interrupted build.
  for (const entry of await readdir(dirname(folder))) {
    if (entry.startsWith(`${basename(folder)}.build-`)) {
      await rm(join(dirname(folder), entry), { recursive: true, force: true });
    }
  }
  const work = `${folder}.build-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  try {
    log(`building Vault with ${go} into ${folder} (once, about 3 minutes)`);
    await build(go, join(work, 'vault'));
    await rename(work, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { program };
}

/** The build tag excludes most plugins; KV, AppRole and tokens are included. */
async function build(go: string, output: string): Promise<void> {
  const args = ['build', '-mod=readonly', '-trimpath', '-tags', 'minimal', '-ldflags', '-s -w', '-o', output];
  // A go.work file or another toolchain would build something other than what go.sum describes.
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' };
  await runProgram(go, [...args, 'github.com/hashicorp/vault'], { cwd: moduleFolder, env, timeoutMs: BUILD_LIMIT_MS });
}

/** Named after its sources, so that it is never used for another version. */
async function cacheFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleFolder, name))).update('\0');
  const base = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bowline', 'vault');
  return join(base, `${hash.digest('hex').slice(0, 16)}-${process.platform}-${process.arch}`);
}
