import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { ensureOpenSsh } from '../../../../../test/support/git/ensure-openssh.ts';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { startSshd } from '../../../../../test/support/git/start-sshd.ts';
import { findNssWrapper } from '../runner/passwd-entry.ts';

const git = await availableGit();
const openSsh = await ensureOpenSsh();
/** A user that no passwd database has. */
const UID = 54_321;

function whySkipped(): string | undefined {
  if ('skippedBecause' in git) return git.skippedBecause;
  if ('skippedBecause' in openSsh) return openSsh.skippedBecause;
  return process.getuid?.() === 0 ? undefined : 'only root can start a process as another user';
}

/** bundledProgram writes the program to a folder that every user can read. */
async function bundledProgram() {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-passwd-'));
  await chmod(folder, 0o755);
  const program = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./resolve-over-ssh.test-support.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@bowline/source'],
    external: ['undici'],
    logLevel: 'silent',
  });
  const home = join(folder, 'home');
  await mkdir(home);
  await chown(home, UID, UID);
  return { folder, home, program, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function runAsUnknownUser(program: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { uid: UID, gid: UID, env, cwd: '/' }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
  });
}

const skipped = whySkipped();
if (skipped !== undefined) it.skip(`a user without a passwd entry: ${skipped}`, () => undefined);
else {
  describe('a user without a passwd entry', () => {
    it('fetches over SSH with nss_wrapper, and is told what is missing without it', async () => {
      if ('skippedBecause' in openSsh) throw new Error(openSsh.skippedBecause);
      await using sshd = await startSshd(openSsh);
      const commit = await (await sshd.repositories.create('plant.git')).commit({ a: 'a' });
      await using bundle = await bundledProgram();
      const library = join(bundle.folder, 'libnss_wrapper.so');
      await copyFile(openSsh.nssWrapper, library);
      const args = [bundle.home, sshd.urlOf('plant.git'), sshd.clientKey];
      expect(await runAsUnknownUser(bundle.program, [...args, library])).toBe(commit);
      // Where the library is installed, it is found without being named.
      if ((await findNssWrapper()) !== undefined) return;
      expect(await runAsUnknownUser(bundle.program, args)).toContain(
        `OpenSSH cannot run as user ${UID}, which has no passwd entry; use an image that contains libnss-wrapper`,
      );
    });
  });
}
