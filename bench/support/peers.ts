import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';
import type { Command } from './subject-process.ts';

/** Peer is a program to compare with, or why it cannot run here. */
export type Peer = { readonly command: Command; readonly version: string } | { readonly skippedBecause: string };

const peersFolder = fileURLToPath(new URL('../peers', import.meta.url));

/** controllerRuntimePeer builds the Go peer once per version of its sources and keeps it outside the work tree. */
export async function controllerRuntimePeer(log: (line: string) => void): Promise<Peer> {
  const source = join(peersFolder, 'controller-runtime');
  // Another toolchain, a go.work file or a changed go.mod would build something other than what go.sum describes.
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly' };
  const go = await runProgram('go', ['env', 'GOVERSION'], { cwd: source, env }).catch(() => undefined);
  if (go === undefined) return { skippedBecause: 'no Go' };
  try {
    const folder = await cached('controller-runtime', fingerprint(source, [go.trim()]), async (work) => {
      log(`building the controller-runtime peer with ${go.trim()} (once, about a minute)`);
      const args = ['build', '-trimpath', '-o', join(work, 'peer'), '.'];
      await runProgram('go', args, { cwd: source, env });
    });
    const version = /sigs\.k8s\.io\/controller-runtime v(\S+)/.exec(readFileSync(join(source, 'go.mod'), 'utf8'))?.[1];
    return { command: { file: join(folder, 'peer'), args: [] }, version: `${version} (${go.trim()})` };
  } catch (error) {
    return { skippedBecause: `it could not be built: ${firstLine(error)}` };
  }
}

/** clientNodePeer installs the npm peer once per lock file and keeps it outside the work tree. */
export async function clientNodePeer(log: (line: string) => void): Promise<Peer> {
  const source = join(peersFolder, 'client-node');
  try {
    const folder = await cached('client-node', fingerprint(source, [process.version]), async (work) => {
      log('installing the client-node peer (once)');
      for (const name of readdirSync(source)) copyFileSync(join(source, name), join(work, name));
      await runProgram('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work, env: process.env });
    });
    const manifest = join(folder, 'node_modules/@kubernetes/client-node/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { command: { file: process.execPath, args: [join(folder, 'informer.js')] }, version };
  } catch (error) {
    return { skippedBecause: `it could not be installed: ${firstLine(error)}` };
  }
}

const gitSyncModule = 'k8s.io/git-sync';

/** gitSyncPeer builds git-sync from the module proxy once and keeps it outside the work tree. */
export async function gitSyncPeer(log: (line: string) => void): Promise<Peer> {
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=mod' };
  const go = await runProgram('go', ['env', 'GOVERSION'], { cwd: peersFolder, env }).catch(() => undefined);
  if (go === undefined) return { skippedBecause: 'no Go' };
  try {
    const folder = await cached('git-sync', go.trim(), async (work) => {
      log(`building git-sync with ${go.trim()} (once, about a minute)`);
      const run = (...args: string[]): Promise<string> => runProgram('go', args, { cwd: work, env });
      await run('mod', 'init', 'bowline.dev/bench/git-sync');
      // The tags of its major versions do not match the path of its module, so that only a branch can be requested.
      await run('get', `${gitSyncModule}@master`);
      await run('build', '-trimpath', '-o', join(work, 'git-sync'), gitSyncModule);
    });
    const version = new RegExp(`${gitSyncModule} (\\S+)`).exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1];
    return { command: { file: join(folder, 'git-sync'), args: [] }, version: `${version} (${go.trim()})` };
  } catch (error) {
    return { skippedBecause: `it could not be built: ${firstLine(error)}: ${lastLine(error)}` };
  }
}

/** cached creates a folder once and atomically, even if two runs create it at the same time. */
async function cached(name: string, key: string, make: (work: string) => Promise<void>): Promise<string> {
  const parent = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bowline/bench', name);
  const folder = join(parent, key);
  if (existsSync(folder)) return folder;
  mkdirSync(parent, { recursive: true });
  const work = mkdtempSync(join(parent, '.new-'));
  try {
    await make(work);
    if (!existsSync(folder)) renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

function fingerprint(folder: string, also: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of also) hash.update(text);
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}

/** The last line of what a program printed usually has the reason. */
function lastLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1)?.trim() ?? '';
}
