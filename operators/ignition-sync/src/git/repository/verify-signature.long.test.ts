import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../../../bench/support/run-program.ts';
import { findProgram } from '../../../../../packages/control-plane/src/binaries/find-binaries.ts';
import { availableGit, runGit } from '../../../../../test/support/git/git-program.ts';
import { type GitFixture, gitFixture } from '../git-fixture.test-support.ts';
import type { ResolvedRef } from './resolve-refs.ts';

const git = await availableGit();
const sshKeygen = await findProgram('ssh-keygen', process.env);
const gpg = await findProgram('gpg', process.env);

interface Signer {
  /** The settings with which git signs. */
  readonly env: Readonly<Record<string, string>>;
  /** What verifies the signatures. */
  readonly keys: string;
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'bsign-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function sshSigner(folder: string, name: string): Promise<Signer> {
  const file = join(folder, name);
  await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file], {
    cwd: folder,
    env: process.env,
  });
  const env = {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'gpg.format',
    GIT_CONFIG_VALUE_0: 'ssh',
    GIT_CONFIG_KEY_1: 'user.signingKey',
    GIT_CONFIG_VALUE_1: file,
  };
  return { env, keys: `${name}@example.com namespaces="git" ${await readFile(`${file}.pub`, 'utf8')}` };
}

/** gpgSigner has a keyring of its own, whose agent ends with it. */
async function gpgSigner(folder: string, name: string): Promise<Signer & AsyncDisposable> {
  const home = join(folder, name);
  await mkdir(home, { mode: 0o700 });
  const options = { cwd: folder, env: { PATH: process.env.PATH, GNUPGHOME: home } };
  const user = `${name}@example.com`;
  await runProgram(
    'gpg',
    ['--batch', '--quiet', '--passphrase', '', '--quick-gen-key', user, 'ed25519', 'sign'],
    options,
  );
  const keys = await runProgram('gpg', ['--batch', '--armor', '--export', user], options);
  const env = { GNUPGHOME: home, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.signingKey', GIT_CONFIG_VALUE_0: user };
  const stop = async (): Promise<void> => void (await runProgram('gpgconf', ['--kill', 'all'], options));
  return { env, keys, [Symbol.asyncDispose]: stop };
}

async function signedCommit({ remote }: GitFixture, signer: Signer, branch: string): Promise<string> {
  const tree = await remote.git('rev-parse', 'main^{tree}');
  const commit = await runGit(remote.folder, ['commit-tree', '-S', '-m', branch, tree], { env: signer.env });
  await remote.git('update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

/** fetched resolves a ref and fetches what its verification needs. */
async function fetched({ local, open }: GitFixture, ref: string): Promise<ResolvedRef> {
  const { connection } = await open();
  const resolved = (await local.resolve([ref], { connection })).get(ref);
  if (!resolved) throw new Error(`no ${ref}`);
  await local.fetchCommit(resolved, { connection });
  await local.fetchTag(resolved, { connection });
  return resolved;
}

const FAILED = { reason: 'VerificationFailed' };

if ('skippedBecause' in git) it.skip(`signatures: ${git.skippedBecause}`, () => undefined);
else if (sshKeygen === undefined) it.skip('signatures of SSH keys: ssh-keygen is not on the PATH', () => undefined);
else {
  describe('signatures of SSH keys', () => {
    it('are accepted for a commit by an allowed signer, and refused for others or without one', async () => {
      await using folder = await temporaryFolder();
      await using fixture = await gitFixture();
      await fixture.remote.commit({ a: 'a' });
      const [alice, mallory] = [await sshSigner(folder.path, 'alice'), await sshSigner(folder.path, 'mallory')];
      await signedCommit(fixture, alice, 'by-alice');
      await signedCommit(fixture, mallory, 'by-mallory');
      const trusted = { format: 'ssh', keys: alice.keys } as const;
      await fixture.local.verify(await fetched(fixture, 'by-alice'), trusted);
      for (const ref of ['by-mallory', 'main']) {
        await expect(fixture.local.verify(await fetched(fixture, ref), trusted)).rejects.toMatchObject(FAILED);
      }
      const notPgp = { format: 'openpgp', keys: '' } as const;
      await expect(fixture.local.verify(await fetched(fixture, 'by-alice'), notPgp)).rejects.toMatchObject(FAILED);
    });

    it('are accepted for a tag of a commit without one, only under its name and for its commit', async () => {
      await using folder = await temporaryFolder();
      await using fixture = await gitFixture();
      const { remote, local } = fixture;
      await remote.commit({ a: 'a' });
      const alice = await sshSigner(folder.path, 'alice');
      await runGit(remote.folder, ['tag', '-s', '-m', 'one', 'v1', 'main'], { env: alice.env });
      await remote.git('tag', '-a', '-m', 'two', 'v2', 'main');
      await remote.git('update-ref', 'refs/tags/v9', await remote.git('rev-parse', 'refs/tags/v1'));
      const trusted = { format: 'ssh', keys: alice.keys } as const;
      const resolved = await fetched(fixture, 'v1');
      await local.verify(resolved, trusted);
      for (const ref of ['v2', 'v9']) {
        await expect(local.verify(await fetched(fixture, ref), trusted)).rejects.toMatchObject(FAILED);
      }
      // A server that announces another commit for the tag.
      const other = await remote.commit({ a: 'b' });
      await fetched(fixture, 'main');
      await expect(local.verify({ ...resolved, commit: other }, trusted)).rejects.toMatchObject(FAILED);
    });
  });
}

if (gpg === undefined) it.skip('signatures of OpenPGP keys: gpg is not on the PATH', () => undefined);
else if (!('skippedBecause' in git)) {
  describe('signatures of OpenPGP keys', () => {
    it('are accepted for a commit by a trusted key, and refused for others and for keys that cannot be read', async () => {
      await using folder = await temporaryFolder();
      await using fixture = await gitFixture();
      await fixture.remote.commit({ a: 'a' });
      await using alice = await gpgSigner(folder.path, 'alice');
      await using mallory = await gpgSigner(folder.path, 'mallory');
      await signedCommit(fixture, alice, 'by-alice');
      await signedCommit(fixture, mallory, 'by-mallory');
      const trusted = { format: 'openpgp', keys: alice.keys } as const;
      await fixture.local.verify(await fetched(fixture, 'by-alice'), trusted);
      await expect(fixture.local.verify(await fetched(fixture, 'by-mallory'), trusted)).rejects.toMatchObject(FAILED);
      await expect(
        fixture.local.verify(await fetched(fixture, 'by-alice'), { format: 'openpgp', keys: 'canary' }),
      ).rejects.toMatchObject({ ...FAILED, message: expect.stringContaining('cannot be read') });
    });
  });
}
