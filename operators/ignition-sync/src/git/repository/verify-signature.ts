import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../errors/git-error.ts';
import type { GitSetting } from '../runner/git-connection.ts';
import type { GitRunner } from '../runner/git-runner.ts';
import type { ResolvedRef } from './resolve-refs.ts';

/** SignatureKeys are the keys that may sign. */
export interface SignatureKeys {
  readonly format: 'ssh' | 'openpgp';
  /** An allowed signers file of ssh-keygen(1), or armoured public keys of OpenPGP. */
  readonly keys: string;
}

/** VerifyOptions describes what to verify. */
export interface VerifyOptions extends SignatureKeys {
  readonly gitDir: string;
  /** The commit, which must have been fetched; with the tag object, if the ref is an annotated tag. */
  readonly resolved: ResolvedRef;
  readonly signal?: AbortSignal | undefined;
}

const IMPORT_TIMEOUT_MS = 30_000;

/**
 * verifySignature verifies that the commit, or the annotated tag that names it, is signed by one of the keys. A signed tag counts
 * only under its own name and for the commit that it points to: a server must not be able to serve an old tag as a new one.
 */
export async function verifySignature(runner: GitRunner, options: VerifyOptions): Promise<void> {
  const { gitDir, resolved, signal } = options;
  await using scratch = await runner.scratch();
  const trust = await trustedKeys(runner, options, scratch.path);
  const verify = async (command: 'verify-commit' | 'verify-tag', hash: string): Promise<boolean> => {
    try {
      await runner.run({ args: [command], operands: [hash], gitDir, signal, ...trust });
      return true;
    } catch (error) {
      // git has one exit code for all of: no signature, an unknown key, a bad signature.
      if (error instanceof GitError && error.reason !== 'Timeout') return false;
      throw error;
    }
  };
  if (await verify('verify-commit', resolved.commit)) return;
  if (resolved.tag !== undefined && (await namesCommit(runner, options)) && (await verify('verify-tag', resolved.tag)))
    return;
  const signed = resolved.tag === undefined ? 'the commit' : 'neither the commit nor the tag';
  throw new GitError(
    'VerificationFailed',
    `${signed} is ${resolved.tag === undefined ? 'not ' : ''}signed by a trusted key`,
    {
      remedy: 'sign it with a key in the Secret of git.verify, or add the key there',
    },
  );
}

async function trustedKeys(
  runner: GitRunner,
  { format, keys, signal }: VerifyOptions,
  folder: string,
): Promise<{ readonly settings: readonly GitSetting[]; readonly env: Readonly<Record<string, string>> }> {
  // A signature of the other format finds no keys at all.
  const home = join(folder, 'gnupg');
  await mkdir(home, { mode: 0o700 });
  const env = { GNUPGHOME: home };
  if (format === 'openpgp') {
    await importKeys(keys, { ...runner.programEnvironment, ...env }, signal);
    return { settings: [], env };
  }
  const file = join(folder, 'allowed_signers');
  await writeFile(file, keys, { mode: 0o600 });
  return { settings: [['gpg.ssh.allowedSignersFile', file]], env };
}

/** importKeys runs GnuPG, whose keyring git reads. It must not start an agent, which would outlive it. */
async function importKeys(
  keys: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = ['--batch', '--quiet', '--no-autostart', '--import'];
  await new Promise<void>((resolve, reject) => {
    const options = { env, timeout: IMPORT_TIMEOUT_MS, killSignal: 'SIGKILL' as const, ...(signal ? { signal } : {}) };
    const child = execFile('gpg', args, options, (error) => {
      if (error === null) resolve();
      else if (signal?.aborted) reject(signal.reason);
      else reject(importError(error));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(keys);
  });
}

function importError(error: Error & { readonly code?: unknown }): GitError {
  const isMissing = error.code === 'ENOENT';
  return new GitError(
    'VerificationFailed',
    isMissing ? 'gpg is not installed' : 'the keys to verify with cannot be read',
    {
      remedy: isMissing ? 'use an image that contains gnupg' : 'store armoured public keys in the Secret of git.verify',
    },
  );
}

/** namesCommit reports whether the tag object has the name of the ref and points to the commit. */
async function namesCommit(runner: GitRunner, { gitDir, resolved, signal }: VerifyOptions): Promise<boolean> {
  const { tag = '', commit, name } = resolved;
  const peeled = await runner.run({ args: ['rev-parse', '--verify'], operands: [`${tag}^{commit}`], gitDir, signal });
  const text = await runner.run({ args: ['cat-file', 'tag'], operands: [tag], gitDir, signal });
  const header = text.slice(0, text.indexOf('\n\n'));
  return peeled.trim() === commit && /^tag (.+)$/m.exec(header)?.[1] === name?.slice('refs/tags/'.length);
}
