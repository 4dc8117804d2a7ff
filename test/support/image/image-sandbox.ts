import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { USER } from '../../../scripts/image/system-layer.ts';

/** SandboxOptions configures a program in an image. */
export interface SandboxOptions {
  /** Variables in addition to those of the image. Defaults to none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files by their path in `/tmp`. Defaults to none. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Outcome is the end of a program. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** StartedProgram is a program that runs in an image; disposing of it kills it. */
export interface StartedProgram extends AsyncDisposable {
  readonly outcome: Promise<Outcome>;
  /** printed returns the output so far. */
  printed(): string;
  /** failure returns the output of a program that has ended, and undefined while it runs. */
  failure(): string | undefined;
  /** signal sends a signal to the program, which is the first process of its container, as kubelet does. */
  signal(name: NodeJS.Signals): Promise<void>;
}

/**
 * ImageSandbox runs programs of an unpacked image as a container runtime does: as the user of the image, with a read-only root,
 * its own processes and nothing of the machine except its network.
 */
export class ImageSandbox implements AsyncDisposable {
  readonly #root: string;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(root: string, folder: string, env: Readonly<Record<string, string>>) {
    this.#root = root;
    this.#folder = folder;
    this.#env = env;
  }

  /** open copies bubblewrap to where the user of the image can start it: the cache may be in a private folder. */
  static async open(bubblewrap: string, root: string, env: Readonly<Record<string, string>>): Promise<ImageSandbox> {
    const folder = await mkdtemp(join(tmpdir(), 'bowline-sandbox-'));
    await chmod(folder, 0o711);
    await copyFile(bubblewrap, join(folder, 'bwrap'));
    await chmod(join(folder, 'bwrap'), 0o755);
    return new ImageSandbox(root, folder, env);
  }

  /** refusal returns why this machine cannot run programs in a sandbox, if so. */
  async refusal(): Promise<string | undefined> {
    const { code, stderr } = await this.run(['/usr/bin/node', '--version']);
    return stderr.startsWith('bwrap:') ? `bubblewrap cannot run here (${code}): ${stderr.trim()}` : undefined;
  }

  /** run runs a program to its end. */
  async run(command: readonly string[], options: SandboxOptions = {}): Promise<Outcome> {
    await using started = await this.start(command, options);
    return await started.outcome;
  }

  /** start starts a program. */
  async start(command: readonly string[], { env = {}, files = {} }: SandboxOptions = {}): Promise<StartedProgram> {
    const isRoot = process.getuid?.() === 0;
    const mounts: string[] = [];
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.#folder, `${mounts.length}-${Math.random().toString(36).slice(2)}`);
      await writeFile(file, content, { mode: 0o600 });
      if (isRoot) await chown(file, USER, USER);
      mounts.push('--ro-bind', file, join('/tmp', path));
    }
    const args = [
      ...['--unshare-user', '--uid', String(USER), '--gid', String(USER)],
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--as-pid-1'],
      ...['--die-with-parent', '--new-session', '--clearenv', '--info-fd', '3'],
      ...['--ro-bind', this.#root, '/', '--proc', '/proc', '--dev', '/dev'],
      // The volumes of the pods.
      ...['--tmpfs', '/tmp', '--tmpfs', '/var/lib/bowline'],
      ...Object.entries({ ...this.#env, ...env }).flatMap(([name, value]) => ['--setenv', name, value]),
      ...mounts,
      '--',
      ...command,
    ];
    const child = spawn(join(this.#folder, 'bwrap'), args, {
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // Root would be the owner of the files of the image.
      ...(isRoot ? { uid: USER, gid: USER } : {}),
    });
    return started(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function started(child: ChildProcess): StartedProgram {
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, info] = [child.stdout, child.stderr, child.stdio[3]].map((stream) =>
    collect(stream as Readable),
  );
  const printed = (): string => `${stdout?.text() ?? ''}${stderr?.text() ?? ''}`;
  return {
    outcome: closed.then(([code]) => ({ code, stdout: stdout?.text() ?? '', stderr: stderr?.text() ?? '' })),
    printed,
    failure: () => (child.exitCode === null ? undefined : printed()),
    async signal(name) {
      await info?.ended;
      const { 'child-pid': pid } = JSON.parse(info?.text() ?? '') as { readonly 'child-pid': number };
      process.kill(pid, name);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

function collect(stream: Readable): { text(): string; readonly ended: Promise<unknown> } {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString(), ended: once(stream, 'end') };
}
