import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Timer } from '@bowline/machinery';
import { TokenError } from '../../token/token-error.ts';
import type { UnexpectedError } from '../describe-unexpected.ts';
import {
  errorOfResponse,
  type ProvisionedToken,
  type WorkerConfig,
  type WorkerMethod,
  type WorkerRequest,
  type WorkerResponse,
} from './worker-messages.ts';

/** WorkerCommand is the program that runs a worker, with its arguments. */
export interface WorkerCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Its environment. Defaults to that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** WorkerProcessOptions configures one worker process. */
export interface WorkerProcessOptions {
  readonly command: WorkerCommand;
  readonly config: WorkerConfig;
  readonly clock: Clock;
  /** The longest duration of a call, and of the start. */
  readonly timeoutMs: number;
  readonly onProvisioned: (token: ProvisionedToken) => void;
  /** Called with an error that is no TokenError. */
  readonly onUnexpected: (error: UnexpectedError) => void;
}

/** WorkerEnd reports how a worker ended. */
export interface WorkerEnd {
  /** Why, in words. */
  readonly cause: string;
  /** Whether it was killed because it did not respond in time. */
  readonly hasHung: boolean;
  readonly crash: UnexpectedError | undefined;
}

interface PendingCall {
  readonly id: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: Timer;
}

/** How long a worker may take to finish its call when the agent stops. */
const STOP_MS = 5_000;
/** How long to wait for the end of the channel of a process that has ended. */
const CLOSE_MS = 1_000;

/** WorkerProcess is one child process that executes calls, one at a time. If one takes too long, the process is killed. */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #child: ChildProcess;
  readonly #startTimer: Timer;
  #resolveReady: (coreDumps: 'off' | 'on') => void = () => {};
  #call: PendingCall | undefined;
  #lastId = 0;
  #hasHung = false;
  #crash: UnexpectedError | undefined;
  /** Resolves when the worker accepts calls, with whether it can leave core dumps; never if it ends before. */
  readonly ready: Promise<'off' | 'on'>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;

  constructor(options: WorkerProcessOptions) {
    const { command, config, clock, timeoutMs } = options;
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    // The output is dropped: what a module or a crash prints may contain values. The worker reports errors itself.
    this.#child = spawn(command.program, command.args, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      ...(command.env ? { env: command.env } : {}),
    });
    this.#child.on('message', (message: WorkerResponse) => this.#receive(message));
    this.ended = this.#end();
    this.#startTimer = clock.setTimer(timeoutMs, () => this.#killHung());
    this.#send({ kind: 'configure', config });
  }

  /** The id of the process; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether the process was killed because it did not respond in time. */
  get hasHung(): boolean {
    return this.#hasHung;
  }

  /** call executes one method. There must be no other call. */
  async call(method: WorkerMethod, args: readonly unknown[]): Promise<unknown> {
    const { clock, timeoutMs } = this.#options;
    await Promise.race([this.ready, this.ended]);
    return await new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const timer = clock.setTimer(timeoutMs, () => {
        this.#settle()?.reject(new TokenError('Timeout', `the token did not respond within ${timeoutMs / 1_000} s`));
        this.#killHung();
      });
      this.#call = { id, resolve, reject, timer };
      if (this.#child.connected) this.#send({ kind: 'call', id, method, args });
      else this.#settle()?.reject(ended());
    });
  }

  /** stop lets the current call end, and ends the process then or after some seconds. */
  async stop(): Promise<void> {
    using _timer = this.#options.clock.setTimer(STOP_MS, () => this.#child.kill('SIGKILL'));
    if (this.#child.connected) this.#child.disconnect();
    await this.ended;
  }

  #send(message: WorkerRequest): void {
    // An error means that the process ends, which is noticed anyway.
    this.#child.send(message, () => undefined);
  }

  #receive(message: WorkerResponse): void {
    if (message.kind === 'ready') {
      this.#startTimer.cancel();
      this.#resolveReady(message.coreDumps);
    } else if (message.kind === 'provisioned') {
      this.#options.onProvisioned(message.token);
    } else if (message.kind === 'crashed') {
      this.#crash = { error: message.error, at: message.at };
    } else if (message.id === this.#call?.id) {
      const call = this.#settle();
      if (message.kind === 'failed') this.#options.onUnexpected({ error: message.error, at: message.at });
      if (message.kind === 'result') call?.resolve(message.value);
      else call?.reject(errorOfResponse(message));
    }
  }

  #settle(): PendingCall | undefined {
    const call = this.#call;
    this.#call = undefined;
    call?.timer.cancel();
    return call;
  }

  #killHung(): void {
    this.#hasHung = true;
    this.#child.kill('SIGKILL');
  }

  async #end(): Promise<WorkerEnd> {
    const child = this.#child;
    const cause = await new Promise<string>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => resolve(`it cannot be started (${error.code})`));
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    });
    await this.#lastMessages();
    this.#startTimer.cancel();
    this.#settle()?.reject(ended());
    return { cause, hasHung: this.#hasHung, crash: this.#crash };
  }

  /** Messages can arrive after the exit. A module may have passed the channel on to another process, which keeps it open. */
  async #lastMessages(): Promise<void> {
    if (!this.#child.connected) return;
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.setTimer(CLOSE_MS, resolve);
      this.#child.once('disconnect', () => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function ended(): TokenError {
  return new TokenError('Unavailable', 'the worker process ended; it is restarted');
}
