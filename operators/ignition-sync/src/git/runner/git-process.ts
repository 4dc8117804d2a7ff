import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { BowlineError, type Clock, type Timer } from '@bowline/machinery';
import { classifyFailure } from '../errors/classify-failure.ts';
import { GitError } from '../errors/git-error.ts';
import { TRACE_DESCRIPTOR } from './git-environment.ts';
import { HttpTrace } from './http-trace.ts';
import { TransferGuard, type TransferLimits } from './transfer-guard.ts';

/** GitProcessOptions describes one process. */
export interface GitProcessOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** The host of the remote, for messages; undefined for a command without one. */
  readonly host: string | undefined;
  /** Limits of a fetch into a repository. */
  readonly transfer: (TransferLimits & { readonly gitDir: string }) | undefined;
}

/** Only the beginning is kept: it has the cause, and a server can send any amount of text after it. */
const MAX_STDERR_BYTES = 65_536;
/** On SIGTERM git removes its lock and temporary files. */
const KILL_AFTER_MS = 2_000;

/**
 * GitProcess is a running git. It is the leader of a process group, so that its helpers (git-remote-https, index-pack, ssh) end
 * with it: on its timeout, when the signal is aborted, or when a limit is exceeded.
 */
export class GitProcess {
  readonly #options: GitProcessOptions;
  readonly #child: ChildProcess;
  readonly #trace: HttpTrace;
  readonly #stderr: Buffer[] = [];
  #stderrBytes = 0;
  #stopReason: Error | undefined;
  #killTimer: Timer | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when git has ended successfully, and rejects with why it failed; only after the whole group has ended. */
  readonly ended: Promise<void>;

  constructor(options: GitProcessOptions) {
    this.#options = options;
    const { program, args, cwd, env } = options;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    this.#child = child;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    // git may end before it has read its input; the exit code decides.
    child.stdin.on('error', () => undefined);
    child.stdout.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => this.#keepError(chunk));
    this.#trace = new HttpTrace(child.stdio[TRACE_DESCRIPTOR] as Readable);
    this.ended = this.#run();
    // A reader of the output may not get to await the end.
    this.ended.catch(() => undefined);
  }

  /** The id of the process and of its group; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** stop ends the process group; `ended` then rejects with the reason. */
  stop(reason: unknown): void {
    if (this.#stopReason !== undefined) return;
    this.#stopReason = reason instanceof Error ? reason : new Error('git was stopped', { cause: reason });
    this.#signalGroup('SIGTERM');
    this.#killTimer = this.#options.clock.setTimer(KILL_AFTER_MS, () => this.#signalGroup('SIGKILL'));
    // A reader that waits for output must not wait for a process that ignores the signal.
    this.stdout.destroy();
  }

  async #run(): Promise<void> {
    const { clock, timeoutMs, signal, host, transfer } = this.#options;
    const onAbort = (): void => this.stop(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    using _timeout = clock.setTimer(timeoutMs, () => this.stop(timeoutError(host, timeoutMs)));
    using _guard = this.#guard(transfer);
    try {
      const { code, error } = await exitOf(this.#child);
      if (this.#stopReason !== undefined) throw this.#stopReason;
      if (error) throw startError(this.#options.program, error);
      if (code !== 0) throw this.#failure();
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#killTimer?.cancel();
      // Helpers that outlive git have nothing left to do.
      this.#signalGroup('SIGKILL');
    }
  }

  #guard(transfer: GitProcessOptions['transfer']): Disposable | undefined {
    const { pid } = this;
    const { clock, host } = this.#options;
    if (transfer === undefined || pid === undefined) return undefined;
    const onExceeded = (limit: 'transfer' | 'memory'): void => this.stop(sizeError(host, limit, transfer));
    return new TransferGuard({ ...transfer, clock, pid, onExceeded });
  }

  #keepError(chunk: Buffer): void {
    const left = MAX_STDERR_BYTES - this.#stderrBytes;
    if (left <= 0) return;
    const kept = chunk.subarray(0, left);
    this.#stderr.push(kept);
    this.#stderrBytes += kept.length;
  }

  #failure(): GitError {
    const stderr = Buffer.concat(this.#stderr).toString('latin1');
    return classifyFailure({ host: this.#options.host, stderr, http: this.#trace.outcome });
  }

  #signalGroup(name: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // The group has ended.
    }
  }
}

function exitOf(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly error?: NodeJS.ErrnoException }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    // `close` and not `exit`: the rest of the standard error may still be in the pipe.
    child.once('close', (code) => resolve({ code }));
  });
}

function startError(program: string, cause: NodeJS.ErrnoException): BowlineError {
  return new BowlineError(
    'BOWLINE_GIT_MISSING',
    `cannot start ${program} (${cause.code ?? 'unknown error'}): install git 2.38 or later, or use an image that contains it`,
  );
}

function timeoutError(host: string | undefined, timeoutMs: number): GitError {
  return new GitError('Timeout', `${host ?? 'git'} did not finish within ${timeoutMs / 1_000} s`, {
    host,
    remedy: 'increase gitTimeout if the repository is large; it is retried',
  });
}

function sizeError(host: string | undefined, limit: 'transfer' | 'memory', limits: TransferLimits): GitError {
  const isTransfer = limit === 'transfer';
  const mebibytes = Math.round((isTransfer ? limits.maxTransferBytes : limits.maxMemoryBytes) / 2 ** 20);
  const what = isTransfer ? `sends more than ${mebibytes} MiB` : `makes git use more than ${mebibytes} MiB of memory`;
  return new GitError('TooLarge', `${host ?? 'the repository'} ${what}`, {
    host,
    remedy: isTransfer
      ? 'increase maxRepositoryMiB if the repository is expected to be this large, or make it smaller'
      : 'remove refs and large files that are not needed from the repository',
  });
}
