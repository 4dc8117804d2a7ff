import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { systemRandom } from '@bowline/machinery';
import { runProgram } from '../../../bench/support/run-program.ts';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { startProgram } from '../start-program.ts';
import type { InstalledOpenSsh } from './ensure-openssh.ts';
import { type GitRepositories, gitRepositories } from './git-repositories.ts';

/** RunningSshd is OpenSSH's server on loopback, which serves bare repositories to the user `git`. */
export interface RunningSshd extends AsyncDisposable {
  readonly host: string;
  /** urlOf returns the address of a repository. */
  urlOf(name: string): string;
  readonly repositories: GitRepositories;
  /** A private key that may log in. */
  readonly clientKey: string;
  /** knownHosts returns the lines of a known_hosts file for the server's keys, one for each type. */
  knownHosts(): Promise<readonly string[]>;
  /** replaceHostKeys restarts the server on the same port with other keys. */
  replaceHostKeys(): Promise<void>;
}

/** The id of `nobody`: as root, sshd would need a user and a folder of the system. */
const UNPRIVILEGED = 65_534;
const KEY_TYPES = ['ed25519', 'ecdsa'];

/** startSshd runs the server as an ordinary user. Its passwd database is generated, so that there is a user `git`. */
export async function startSshd(openSsh: InstalledOpenSsh): Promise<RunningSshd> {
  const isRoot = process.getuid?.() === 0;
  const uid = isRoot ? UNPRIVILEGED : (process.getuid?.() ?? 0);
  const gid = isRoot ? UNPRIVILEGED : (process.getgid?.() ?? 0);
  const folder = await mkdtemp(join(tmpdir(), 'bowline-sshd-'));
  await chmod(folder, 0o755);
  const repositories = await gitRepositories();
  await chmod(repositories.folder, 0o755);
  const [port = 0] = await freePorts(1, systemRandom);
  const path = (name: string): string => join(folder, name);
  const keygen = (type: string, file: string): Promise<string> =>
    runProgram('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'test', '-f', file], { cwd: folder, env: process.env });
  const writeHostKeys = async (): Promise<void> => {
    for (const type of KEY_TYPES) {
      await rm(path(`host_${type}`), { force: true });
      await rm(path(`host_${type}.pub`), { force: true });
      await keygen(type, path(`host_${type}`));
      if (isRoot) await chown(path(`host_${type}`), uid, gid);
    }
  };
  await keygen('ed25519', path('client'));
  await copyFile(path('client.pub'), path('authorized_keys'));
  await writeHostKeys();
  // The programs may be in a folder that only this user can read.
  await mkdir(path('lib'));
  for (const file of [openSsh.sshd, openSsh.nssWrapper, ...(await librariesIn(openSsh.libraryPath))]) {
    await copyFile(file, path(`lib/${basename(file)}`));
  }
  await chmod(path('lib/sshd'), 0o755);
  await writeFile(path('passwd'), `git:x:${uid}:${gid}::${folder}:/bin/sh\n`);
  await writeFile(path('group'), `git:x:${gid}:\n`);
  await writeFile(path('serve'), serveScript(repositories.folder), { mode: 0o755 });
  await chmod(path('serve'), 0o755);
  await writeFile(path('sshd_config'), configOf(folder, port));
  const env = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: path('lib'),
    LD_PRELOAD: path(`lib/${basename(openSsh.nssWrapper)}`),
    NSS_WRAPPER_PASSWD: path('passwd'),
    NSS_WRAPPER_GROUP: path('group'),
  };
  const start = () =>
    startProgram({
      name: 'sshd',
      program: path('lib/sshd'),
      args: ['-D', '-e', '-f', path('sshd_config')],
      env,
      user: isRoot ? { uid, gid } : undefined,
      isReady: () => answers(port),
    });
  let running = await start();
  return {
    host: `127.0.0.1:${port}`,
    urlOf: (name) => `ssh://git@127.0.0.1:${port}${repositories.folder}/${name}`,
    repositories,
    clientKey: await readFile(path('client'), 'utf8'),
    knownHosts: () =>
      Promise.all(
        KEY_TYPES.map(async (type) => {
          const [algorithm, key] = (await readFile(path(`host_${type}.pub`), 'utf8')).split(' ');
          return `[127.0.0.1]:${port} ${algorithm} ${key}`;
        }),
      ),
    async replaceHostKeys() {
      await running[Symbol.asyncDispose]();
      await writeHostKeys();
      running = await start();
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await repositories[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function librariesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('libwrap.so')).map((name) => join(folder, name));
}

function configOf(folder: string, port: number): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...KEY_TYPES.map((type) => `HostKey ${folder}/host_${type}`),
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    `ForceCommand ${folder}/serve`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PasswordAuthentication no',
    'AcceptEnv GIT_PROTOCOL',
    '',
  ].join('\n');
}

/** The repositories belong to the user of the tests, and the server may run as another one. */
function serveScript(folder: string): string {
  return `#!/bin/sh
unset LD_PRELOAD LD_LIBRARY_PATH
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=${folder}
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
case "$SSH_ORIGINAL_COMMAND" in
  git-upload-pack\\ *) eval "exec $SSH_ORIGINAL_COMMAND" ;;
esac
exit 1
`;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
