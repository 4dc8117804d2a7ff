import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BowlineError } from '@bowline/runtime';
import type { ProcessSpec, SupervisorEvent, SupervisorRequest, SupervisorSignal } from './protocol.ts';

/** SupervisorCommand is the command that starts the supervisor process. */
export interface SupervisorCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** ProcessExit describes how a process exited. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** RunningProcess is a process run by the supervisor. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process has exited, for whatever reason. */
  readonly exited: Promise<ProcessExit>;
}

interface Entry extends RunningProcess {
  readonly settle: (exit: ProcessExit) => void;
}

interface Waiter {
  readonly resolve: (process: RunningProcess) => void;
  readonly reject: (error: Error) => void;
}

/** Supervisor is the parent's side of a supervisor process; see `runSupervisor` for the other side. */
export class Supervisor implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #running = new Map<string, Entry>();
  readonly #starting = new Map<string, Waiter>();
  readonly #opened: Promise<string>;
  #folder: string | undefined;
  #isStopping = false;
  #hasEnded = false;
  #errors = '';

  /**
   * Starts the supervisor process. Without a folder it creates a temporary one and removes it when it exits; `command` defaults
   * to this package's own bin.
   */
  constructor(
    options: { readonly folder?: string | undefined; readonly command?: SupervisorCommand | undefined } = {},
  ) {
    const { command, args } = options.command ?? defaultSupervisorCommand();
    // Settings of this Node process (coverage, loaders, inspectors) must not affect the supervisor.
    const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
    // Detached: a Ctrl-C in the terminal reaches only us, and we decide; killing our process group does not kill the supervisor.
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env });
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-2000);
    });
    let reject: (error: Error) => void = () => {};
    this.#opened = new Promise((resolve, refuse) => {
      reject = refuse;
      if (!this.#child.stdout) return;
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        // Ignore output other than our own events, such as warnings of Node or loaders.
        if (!line.startsWith('{"event":')) return;
        const event = JSON.parse(line) as SupervisorEvent;
        if (event.event === 'opened') {
          this.#folder = event.folder;
          resolve(event.folder);
        } else this.#handle(event);
      });
    });
    this.#ended = new Promise((settle) => {
      const finish = (why: string): void => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        reject(this.#lost(why));
        this.#abandon(why, options.folder === undefined).then(settle, settle);
      };
      this.#child.once('error', (error) => finish(error.message));
      this.#child.once('close', (code, signal) => finish(`it exited with ${signal ?? code}`));
    });
    // Callers of `opened` see the failure; without a caller it must not become an unhandled rejection.
    this.#opened.catch(() => {});
    this.#send({ op: 'open', folder: options.folder });
  }

  /** The supervisor's own process id. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** opened resolves to the folder once the supervisor is running. */
  opened(): Promise<string> {
    return this.#opened;
  }

  /** start runs a program and resolves once it has a process id. */
  start(spec: ProcessSpec): Promise<RunningProcess> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded || this.#isStopping) {
        reject(this.#lost('it has been stopped'));
        return;
      }
      this.#starting.set(spec.name, { resolve, reject });
      this.#send({ op: 'start', spec });
    });
  }

  /** running returns the process of that name while it runs. */
  running(name: string): RunningProcess | undefined {
    return this.#running.get(name);
  }

  /** signal sends a signal to a process; no effect after it has exited. */
  signal(name: string, signal: SupervisorSignal): void {
    this.#send({ op: 'signal', name, signal });
  }

  /** stop ends every process and the supervisor, and resolves when all have exited and the temporary folder is removed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child.stdin?.end();
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #send(request: SupervisorRequest): void {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
  }

  #handle(event: Exclude<SupervisorEvent, { event: 'opened' }>): void {
    switch (event.event) {
      case 'started': {
        let settle: Entry['settle'] = () => {};
        const exited = new Promise<ProcessExit>((resolve) => {
          settle = resolve;
        });
        const entry: Entry = { pid: event.pid, exited, settle };
        this.#running.set(event.name, entry);
        this.#starting.get(event.name)?.resolve(entry);
        this.#starting.delete(event.name);
        break;
      }
      case 'refused':
        this.#starting
          .get(event.name)
          ?.reject(
            new BowlineError(
              'BOWLINE_CONTROL_PLANE_START',
              `cannot run ${event.name}: ${event.message}; check that the file exists and is a program for this machine`,
            ),
          );
        this.#starting.delete(event.name);
        break;
      case 'exited': {
        const entry = this.#running.get(event.name);
        this.#running.delete(event.name);
        entry?.settle({ code: event.code, signal: event.signal });
        break;
      }
    }
  }

  /** #abandon does the supervisor's clean-up when it was itself killed, then fails all waiting callers. */
  async #abandon(why: string, isTemporary: boolean): Promise<void> {
    for (const [name, entry] of this.#running) {
      try {
        process.kill(entry.pid, 'SIGKILL');
      } catch {
        // Already exited.
      }
      entry.settle({ code: null, signal: 'SIGKILL' });
      this.#running.delete(name);
    }
    for (const waiter of this.#starting.values()) waiter.reject(this.#lost(why));
    this.#starting.clear();
    if (isTemporary && this.#folder) await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #lost(why: string): BowlineError {
    return new BowlineError(
      'BOWLINE_SUPERVISOR',
      `the control plane's supervisor process (${this.#child.spawnargs.join(' ')}) has exited: ${why}; start the control plane again${this.#errors ? `\n${this.#errors}` : ''}`,
    );
  }
}

/**
 * defaultSupervisorCommand runs this package's bin. From source, as in this repository's tests, Node needs tsx to read
 * TypeScript; the published package runs its own JavaScript.
 */
function defaultSupervisorCommand(): SupervisorCommand {
  const self = fileURLToPath(import.meta.url);
  if (!self.endsWith('.ts')) {
    return { command: process.execPath, args: [fileURLToPath(new URL('../bin/supervisor.js', import.meta.url))] };
  }
  const tsx = createRequire(import.meta.url).resolve('tsx');
  const entry = fileURLToPath(new URL('../bin/supervisor.ts', import.meta.url));
  return { command: process.execPath, args: ['--import', pathToFileURL(tsx).href, entry] };
}
