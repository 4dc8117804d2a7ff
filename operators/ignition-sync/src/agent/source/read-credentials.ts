import { open } from 'node:fs/promises';
import type { GitCredentials } from '../../git/access/git-credentials.ts';
import { GitError } from '../../git/errors/git-error.ts';
import type { SyncMetadata } from '../../protocol/metadata.ts';

/** CredentialFiles are the files with which an agent authenticates to the Git server. They are mounted from Secrets. */
export interface CredentialFiles {
  /** Defaults to none. */
  readonly tokenFile?: string | undefined;
  /** Defaults to none. */
  readonly sshKeyFile?: string | undefined;
  /** Defaults to the host keys that the controller pinned. */
  readonly knownHostsFile?: string | undefined;
  /** Certificate authorities (PEM). Defaults to those of the system. */
  readonly caFile?: string | undefined;
}

/** Far more than a key or a bundle of certificates has. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * readCredentials reads the credentials for the Git server. It is called for every use, because a Secret that changes is updated in
 * its volume. Errors name the file, never its content.
 */
export async function readCredentials(files: CredentialFiles, metadata: SyncMetadata): Promise<GitCredentials> {
  switch (metadata.authType) {
    case 'none':
      return { type: 'none' };
    case 'token':
    case 'githubApp': {
      const token = await readText(files.tokenFile, 'token');
      return { type: 'token', token, username: metadata.settings.git.username };
    }
    case 'ssh': {
      const privateKey = await readText(files.sshKeyFile, 'SSH key');
      return { type: 'ssh', privateKey, knownHosts: await knownHosts(files, metadata) };
    }
  }
}

/** readAuthorities returns the certificate authorities of the Git server; undefined for those of the system. */
export async function readAuthorities({ caFile }: CredentialFiles): Promise<string | undefined> {
  return caFile === undefined ? undefined : await readText(caFile, 'certificate authority');
}

/** The controller pins the keys of a host before agents connect to it, so that none trusts another key. */
async function knownHosts({ knownHostsFile }: CredentialFiles, metadata: SyncMetadata): Promise<string> {
  const known = knownHostsFile === undefined ? metadata.knownHosts : await readText(knownHostsFile, 'known hosts');
  if (known.trim() !== '') return known;
  throw new GitError('HostKeyChanged', 'no key of the host is known', {
    remedy: 'set git.auth.sshKey.knownHosts, or wait until the controller has pinned the key',
  });
}

async function readText(path: string | undefined, what: string): Promise<string> {
  if (path === undefined)
    throw new GitError('AuthenticationFailed', `the agent has no ${what}`, {
      remedy: 'recreate the pod, so that the Secret of git.auth is mounted into it',
    });
  const fail = (problem: string): never => {
    throw new GitError('AuthenticationFailed', `cannot read the ${what} in ${path} (${problem})`, {
      remedy: 'check the Secret of git.auth and its key',
    });
  };
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size === 0 || size > MAX_FILE_BYTES) return fail(size === 0 ? 'it is empty' : 'it is too large');
    return await file.readFile('utf8');
  } catch (error) {
    if (error instanceof GitError) throw error;
    return fail(error instanceof Error && 'code' in error ? String(error.code) : 'unknown error');
  }
}
