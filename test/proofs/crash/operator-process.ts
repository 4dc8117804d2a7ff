import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionConfig } from '@bowline/runtime/client';
import { FaultProxy } from '../../support/fault-proxy/fault-proxy.ts';
import type { ChildSettings } from './operator-child.ts';
import type { OperatorProgram } from './operator-program.ts';

/** KillPoint is a moment of a process: a delay after a number of requests. */
export interface KillPoint {
  readonly requests: number;
  readonly delayMs: number;
}

const MAX_LOG = 8_192;

/** OperatorProcess is an operator in a separate process, which is killed and restarted. Its requests are counted on the wire. */
export class OperatorProcess implements AsyncDisposable {
  readonly #proxy: FaultProxy;
  readonly #program: string;
  readonly #settings: ChildSettings;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #isKilled = false;
  #fail: (error: Error) => void = () => {};
  #requests = 0;
  #onRequest: () => void = () => {};
  #log = '';
  /** died rejects when the process exits by itself, which it never should. */
  readonly died: Promise<never>;

  private constructor(proxy: FaultProxy, program: string, settings: ChildSettings) {
    this.#proxy = proxy;
    this.#program = program;
    this.#settings = settings;
    this.died = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.died.catch(() => undefined);
    proxy.schedule = () => {
      this.#requests++;
      this.#onRequest();
      return undefined;
    };
  }

  /**
   * open prepares a process of the program; `start` starts it. `upstream` is the connection to the API server with the operator's
   * identity.
   */
  static async open(
    upstream: ConnectionConfig,
    { main }: OperatorProgram,
    settings: Pick<ChildSettings, 'scenario' | 'namespace'>,
  ): Promise<OperatorProcess> {
    const proxy = await FaultProxy.start({ upstream });
    const { server, ca } = await proxy.connection(settings.scenario);
    return new OperatorProcess(proxy, main, { ...settings, server, ca: String(ca) });
  }

  /** logTail returns the end of its log. */
  get logTail(): string {
    return this.#log;
  }

  start(): void {
    const child = fork(this.#program, [JSON.stringify(this.#settings)], {
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-MAX_LOG);
    });
    child.on('error', (error) => this.#fail(error));
    this.#isKilled = false;
    this.#requests = 0;
    this.#child = child;
    this.#exited = once(child, 'exit').then(([code]) => {
      if (!this.#isKilled) this.#fail(new Error(`the operator exited unexpectedly with ${code}: ${this.#log}`));
    });
  }

  /**
   * killAt kills the process at a moment, counted from now, and resolves when it has exited; when aborted it resolves immediately
   * without killing.
   */
  async killAt({ requests, delayMs }: KillPoint, signal: AbortSignal): Promise<void> {
    const goal = this.#requests + requests;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#onRequest = () => {
        if (this.#requests >= goal) resolve();
      };
      this.#onRequest();
    });
    this.#onRequest = () => {};
    if (signal.aborted) return;
    if (delayMs > 0) await pause(delayMs);
    await this.kill();
  }

  /** kill kills the process without warning, and resolves when it has exited. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#child?.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#proxy.close();
  }
}
