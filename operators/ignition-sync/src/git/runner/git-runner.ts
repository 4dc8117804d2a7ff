import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '@bowline/machinery';
import { GitError } from '../errors/git-error.ts';
import type { GitConnection, GitSetting } from './git-connection.ts';
import { gitEnvironment } from './git-environment.ts';
import { GitProcess } from './git-process.ts';
import { requireVersion } from './git-version.ts';
import { type PasswdEntry, passwdEntry } from './passwd-entry.ts';

/** GitRunnerOptions configures how git is run. */
export interface GitRunnerOptions {
  /** A folder for temporary files and keys; backed by memory where possible. It is created if it does not exist. */
  readonly scratchFolder: string;
  /** The program. Defaults to `git`, which is looked for on the path. */
  readonly program?: string | undefined;
  /** Where git looks for programs. Defaults to the PATH of this process. */
  readonly path?: string | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** The longest duration of one command. Defaults to 2 minutes. */
  readonly timeoutMs?: number | undefined;
  /** The maximum size of one transfer. Defaults to 2048. */
  readonly maxRepositoryMiB?: number | undefined;
  /** The maximum memory of one fetch with its child processes, without mapped files. Defaults to 512. */
  readonly maxMemoryMiB?: number | undefined;
  /** The library of nss_wrapper. Defaults to the one of the system, if there is one. */
  readonly nssWrapperLibrary?: string | undefined;
}

/** GitCommand is one execution of git. */
export interface GitCommand {
  /** The subcommand and its options: never input of users. */
  readonly args: readonly string[];
  /** Operands, which follow `--end-of-options`: git takes none of them for an option. Defaults to none. */
  readonly operands?: readonly string[] | undefined;
  /** Paths, which follow `--`. Defaults to none. */
  readonly paths?: readonly string[] | undefined;
  /** The repository. Defaults to none. */
  readonly gitDir?: string | undefined;
  /** The remote. Without one, git may not use any protocol. */
  readonly connection?: GitConnection | undefined;
  /** Further settings. Defaults to none. */
  readonly settings?: readonly GitSetting[] | undefined;
  /** Further variables. Defaults to none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** GitInput is what git reads from its standard input. */
export type GitInput = string | AsyncIterable<string> | Iterable<string>;

/** The output that `run` collects; commands with more output are streamed. */
const MAX_OUTPUT_BYTES = 4 * 2 ** 20;
const MIB = 2 ** 20;

/** GitRunner is the only place that starts git. */
export class GitRunner {
  readonly #program: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #limits: { readonly maxTransferBytes: number; readonly maxMemoryBytes: number };
  readonly #passwd: PasswdEntry;
  readonly scratchFolder: string;

  private constructor(options: GitRunnerOptions, passwd: PasswdEntry) {
    this.scratchFolder = options.scratchFolder;
    this.#program = options.program ?? 'git';
    this.#path = options.path ?? process.env.PATH ?? '';
    this.#clock = options.clock ?? systemClock;
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#limits = {
      maxTransferBytes: (options.maxRepositoryMiB ?? 2_048) * MIB,
      maxMemoryBytes: (options.maxMemoryMiB ?? 512) * MIB,
    };
    this.#passwd = passwd;
  }

  /** open checks that git is installed and recent enough. */
  static async open(options: GitRunnerOptions): Promise<GitRunner> {
    await mkdir(options.scratchFolder, { recursive: true, mode: 0o700 });
    const passwd = await passwdEntry({ folder: options.scratchFolder, library: options.nssWrapperLibrary });
    const runner = new GitRunner(options, passwd);
    requireVersion(await runner.run({ args: ['version'] }));
    return runner;
  }

  /** Whether OpenSSH would refuse to run, because the user of this process has no entry in the passwd database. */
  get isPasswdEntryMissing(): boolean {
    return this.#passwd.isMissing;
  }

  /** The environment of programs besides git that need the passwd entry. */
  get programEnvironment(): Readonly<Record<string, string>> {
    return { PATH: this.#path, HOME: this.scratchFolder, LC_ALL: 'C', ...this.#passwd.env };
  }

  /** scratch creates a private folder that is removed when it is disposed of. */
  async scratch(): Promise<{ readonly path: string } & AsyncDisposable> {
    const path = await mkdtemp(join(this.scratchFolder, 'git-'));
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  }

  /** start starts git; the caller reads its output and awaits its end. */
  start(command: GitCommand): GitProcess {
    const { args, operands = [], paths, gitDir, connection, settings = [], env = {}, signal } = command;
    return new GitProcess({
      program: this.#program,
      args: [
        ...args,
        ...(operands.length > 0 ? ['--end-of-options', ...operands] : []),
        ...(paths ? ['--', ...paths] : []),
      ],
      cwd: this.scratchFolder,
      env: gitEnvironment({
        path: this.#path,
        scratchFolder: this.scratchFolder,
        gitDir,
        connection,
        settings,
        env: { ...this.#passwd.env, ...env },
      }),
      clock: this.#clock,
      timeoutMs: this.#timeoutMs,
      signal,
      host: connection?.host,
      transfer: connection && gitDir !== undefined ? { ...this.#limits, gitDir } : undefined,
    });
  }

  /** run runs a command with little output to its end, and returns the output. */
  async run(command: GitCommand & { readonly input?: GitInput | undefined }): Promise<string> {
    const process = this.start(command);
    const written = writeInput(process, command.input ?? '');
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) {
          process.stop(outputError(command));
          break;
        }
        chunks.push(chunk);
      }
    } catch {
      // The output ends early when the process is stopped; `ended` has the reason.
    }
    await process.ended;
    await written;
    return Buffer.concat(chunks).toString('utf8');
  }

  /** records runs a command and yields the parts of its output that a separator ends. Leaving the loop ends git. */
  records(
    command: GitCommand & { readonly input?: GitInput | undefined },
    separator: '\0' | '\n',
  ): AsyncGenerator<Buffer> {
    return this.stream(command, (output) => splitRecords(output, separator));
  }

  /** stream runs a command and yields what a function reads from its output. Leaving the loop ends git. */
  async *stream<T>(
    command: GitCommand & { readonly input?: GitInput | undefined },
    read: (output: AsyncIterable<Buffer>) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const process = this.start(command);
    const written = writeInput(process, command.input ?? '');
    let isLeft = true;
    try {
      yield* read(process.stdout as AsyncIterable<Buffer>);
      isLeft = false;
    } catch (error) {
      // Without effect if the process was stopped already, which is why the output ended.
      process.stop(error);
      isLeft = false;
    } finally {
      if (isLeft) {
        process.stop(new Error('the output is no longer needed'));
        await process.ended.catch(() => undefined);
      }
    }
    await process.ended;
    await written;
  }
}

/** writeInput writes the standard input as fast as the process reads it. */
async function writeInput(process: GitProcess, input: GitInput): Promise<void> {
  const { stdin } = process;
  try {
    for await (const part of typeof input === 'string' ? [input] : input) {
      if (stdin.destroyed) break;
      if (!stdin.write(part)) await writable(process);
    }
  } catch (error) {
    process.stop(error);
  } finally {
    stdin.end();
  }
}

function writable({ stdin, ended }: GitProcess): Promise<void> {
  return new Promise((resolve) => {
    stdin.once('drain', resolve);
    ended.then(resolve, () => resolve());
  });
}

/** A path has at most 4,096 bytes on Linux; a server could send a longer one. */
const MAX_RECORD_BYTES = 65_536;

async function* splitRecords(chunks: AsyncIterable<Buffer>, separator: '\0' | '\n'): AsyncGenerator<Buffer> {
  const byte = separator.charCodeAt(0);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let from = 0;
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = text.indexOf(byte); end !== -1; end = text.indexOf(byte, from)) {
      yield text.subarray(from, end);
      from = end + 1;
    }
    rest = text.subarray(from);
    if (rest.length > MAX_RECORD_BYTES) {
      throw new GitError('TooLarge', 'the repository has a path that is too long', { remedy: 'rename the file' });
    }
  }
}

function outputError({ connection }: GitCommand): GitError {
  return new GitError(
    'TooLarge',
    `${connection?.host ?? 'git'} returned more than ${MAX_OUTPUT_BYTES / MIB} MiB of text`,
    {
      host: connection?.host,
      remedy: 'check that the address is that of a Git server',
    },
  );
}
