import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../errors/git-error.ts';
import type { GitRunner } from '../runner/git-runner.ts';
import type { GitCredentials } from './git-credentials.ts';

/** SshAccess is how git runs OpenSSH for one connection. */
export interface SshAccess {
  readonly env: Readonly<Record<string, string>>;
  hostKeys(): Promise<readonly string[]>;
}

/** sshAccess writes the key and the known hosts to private files, and configures OpenSSH to use nothing else. */
export async function sshAccess(options: {
  readonly runner: GitRunner;
  readonly host: string;
  readonly credentials: GitCredentials;
  readonly folder: string;
}): Promise<SshAccess> {
  const { runner, host, credentials, folder } = options;
  if (runner.isPasswdEntryMissing) {
    throw new GitError('GitFailed', `OpenSSH cannot run as user ${process.getuid?.()}, which has no passwd entry`, {
      host,
      remedy: 'use an image that contains libnss-wrapper, or run as a user that the image knows',
    });
  }
  const knownHosts = join(folder, 'known_hosts');
  const key = join(folder, 'key');
  const pinned = credentials.type === 'ssh' ? credentials.knownHosts : undefined;
  await writeFile(knownHosts, pinned === undefined ? '' : withLineEnd(pinned), { mode: 0o600 });
  if (credentials.type === 'ssh') await writeFile(key, withLineEnd(credentials.privateKey), { mode: 0o600 });
  const command = [
    'ssh',
    // Without the user's and the system's configuration.
    ...['-F', '/dev/null'],
    ...(credentials.type === 'ssh' ? ['-i', key] : []),
    ...Object.entries({
      BatchMode: 'yes',
      IdentitiesOnly: 'yes',
      IdentityAgent: 'none',
      PasswordAuthentication: 'no',
      KbdInteractiveAuthentication: 'no',
      StrictHostKeyChecking: pinned === undefined ? 'accept-new' : 'yes',
      UserKnownHostsFile: knownHosts,
      GlobalKnownHostsFile: '/dev/null',
      HashKnownHosts: 'no',
      // Further keys that a server offers later would not be the ones that are pinned.
      UpdateHostKeys: 'no',
      CheckHostIP: 'no',
      ForwardAgent: 'no',
      ClearAllForwardings: 'yes',
      ControlMaster: 'no',
      ControlPath: 'none',
      ConnectTimeout: '30',
      ServerAliveInterval: '15',
      ServerAliveCountMax: '3',
      LogLevel: 'ERROR',
    }).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  ];
  return {
    // git runs this by a shell; the words are our own, and paths are quoted.
    env: { GIT_SSH_COMMAND: command.map(quote).join(' '), GIT_SSH_VARIANT: 'ssh' },
    async hostKeys() {
      if (pinned !== undefined) return [];
      const lines = (await readFile(knownHosts, 'utf8').catch(() => '')).split('\n');
      return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
    },
  };
}

/** OpenSSH refuses keys without a final line end or with the line ends of Windows, and Secrets often have those. */
function withLineEnd(text: string): string {
  return `${text.replaceAll('\r\n', '\n').trimEnd()}\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
