import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../../bench/support/run-program.ts';
import { lockFile } from '../../../packages/control-plane/src/binaries/file-lock.ts';
import {
  defaultModuleDir,
  findProgram,
  readModule,
} from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** KubeletProgram is the device manager of kubelet for tests, or why there is none. */
export type KubeletProgram = { readonly program: string } | { readonly skippedBecause: string };

const source = fileURLToPath(new URL('main.go', import.meta.url));

/** A build takes some seconds after that of the control plane, of which it uses most packages, and minutes without. */
const BUILD_LIMIT_MS = 1_800_000;

/**
 * ensureKubelet returns a program with the device manager of kubelet, built once into the cache outside the work tree, from the
 * same module versions as the control plane. It is used only in tests; nothing of it is shipped.
 */
export async function ensureKubelet(log: (line: string) => void = console.error): Promise<KubeletProgram> {
  const program = await cachedProgram();
  if (existsSync(program)) return { program };
  const go = await findProgram('go', process.env);
  if (go === undefined) {
    return {
      skippedBecause:
        "no device manager of kubelet: install Go 1.25 or later (https://go.dev/dl), with which it is built once, in less than a minute after the control plane's own build",
    };
  }
  await using _lock = await lockFile(`${program}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is building the device manager of kubelet`),
  });
  if (existsSync(program)) return { program };
  // Only the holder of the lock writes it, over the leftover of an interrupted build.
  const work = `${program}.build`;
  try {
    log(`building the device manager of kubelet with ${go} into ${program} (once)`);
    await build(go, work);
    await rename(work, program);
  } finally {
    await rm(work, { force: true });
  }
  return { program };
}

/** A single file is built in the module of the current folder, so it needs no module of its own. */
async function build(go: string, output: string): Promise<void> {
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', output, source];
  // A go.work file or another toolchain would build something other than what go.sum describes.
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' };
  await runProgram(go, args, { cwd: defaultModuleDir, env, timeoutMs: BUILD_LIMIT_MS });
}

/** Named after its sources, so that it is never used for another version. */
async function cachedProgram(): Promise<string> {
  const { sum } = await readModule(defaultModuleDir);
  const own = hash('sha256', await readFile(source), 'hex').slice(0, 16);
  const base = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bowline', 'kubelet');
  return join(base, `device-manager-${own}-${sum}-${process.platform}-${process.arch}`);
}
