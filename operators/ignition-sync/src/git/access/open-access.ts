import type { GitUrl } from '../address/git-url.ts';
import { GitError } from '../errors/git-error.ts';
import type { GitConnection } from '../runner/git-connection.ts';
import type { GitRunner } from '../runner/git-runner.ts';
import type { GitCredentials, GitProxy } from './git-credentials.ts';
import { httpSettings } from './http-access.ts';
import { sshAccess } from './ssh-access.ts';

/** GitAccessOptions describes the remote of one operation. */
export interface GitAccessOptions {
  readonly runner: GitRunner;
  readonly url: GitUrl;
  readonly credentials: GitCredentials;
  /** Certificate authorities (PEM) to trust instead of the system's. Defaults to the system's. */
  readonly ca?: string | undefined;
  /** Defaults to none. */
  readonly proxy?: GitProxy | undefined;
}

/** GitAccess is a connection with credentials in a scratch folder, which disposing of it removes. */
export interface GitAccess extends AsyncDisposable {
  readonly connection: GitConnection;
  /** hostKeys returns the host keys that were trusted on first use so far, as lines of a known_hosts file: pin them. */
  hostKeys(): Promise<readonly string[]>;
}

/** openAccess prepares credentials for git commands. They reach git through its environment and private files only. */
export async function openAccess(options: GitAccessOptions): Promise<GitAccess> {
  const { runner, url, credentials } = options;
  requireMatch(url, credentials);
  const scratch = await runner.scratch();
  const dispose = async (): Promise<void> => await scratch[Symbol.asyncDispose]();
  const base = { url: url.text, scheme: url.scheme, host: url.host };
  try {
    if (url.scheme === 'ssh') {
      const ssh = await sshAccess({ runner, host: url.host, credentials, folder: scratch.path });
      return {
        connection: { ...base, settings: [], env: ssh.env },
        hostKeys: ssh.hostKeys,
        [Symbol.asyncDispose]: dispose,
      };
    }
    const { settings, env } = await httpSettings({ ...options, folder: scratch.path });
    const hostKeys = async (): Promise<readonly string[]> => [];
    return { connection: { ...base, settings, env }, hostKeys, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function requireMatch({ scheme, host }: GitUrl, { type }: GitCredentials): void {
  const fits = type === 'none' || (type === 'ssh') === (scheme === 'ssh');
  if (fits) return;
  throw new GitError('ProtocolRefused', `the credentials do not fit the ${scheme} address of ${host}`, {
    host,
    remedy: 'use git.auth.sshKey with an ssh address, and git.auth.token or githubApp with https',
  });
}
