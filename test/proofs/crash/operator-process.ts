import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionConfig } from '@bowline/runtime';
import { FaultProxy } from '../../support/fault-proxy/fault-proxy.ts';
import type { ChildSettings } from './operator-child.ts';
import type { OperatorProgram } from './operator-program.ts';

/** KillPoint is a moment in the life of a process: so long after it has sent so many requests. */
export interface KillPoint {
  readonly requests: number;
  readonly laterMs: number;
}

const LONGEST_LOG = 8_192;

/** OperatorProcess is an operator in a process of its own, which is killed and started again. Its requests are counted on the wire. */
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
  #said = '';
  /** died rejects when the process ends by itself, which it never should. */
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

  /** open prepares a process of the program; `start` starts it. `upstream` is how the API server is reached under the operator's identity. */
  static async open(
    upstream: ConnectionConfig,
    { main }: OperatorProgram,
    settings: Pick<ChildSettings, 'scenario' | 'namespace'>,
  ): Promise<OperatorProcess> {
    const proxy = await FaultProxy.start({ upstream });
    const { server, ca } = await proxy.connection(settings.scenario);
    return new OperatorProcess(proxy, main, { ...settings, server, ca: String(ca) });
  }

  /** said is the end of its log. */
  get said(): string {
    return this.#said;
  }

  start(): void {
    const child = fork(this.#program, [JSON.stringify(this.#settings)], {
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString()).slice(-LONGEST_LOG);
    });
    child.on('error', (error) => this.#fail(error));
    this.#isKilled = false;
    this.#requests = 0;
    this.#child = child;
    this.#exited = once(child, 'exit').then(([code]) => {
      if (!this.#isKilled) this.#fail(new Error(`the operator ended by itself with ${code}: ${this.#said}`));
    });
  }

  /** killAt kills the process at a moment, counted from now, and resolves when it is gone; at once, and without, when aborted. */
  async killAt({ requests, laterMs }: KillPoint, signal: AbortSignal): Promise<void> {
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
    if (laterMs > 0) await pause(laterMs);
    await this.kill();
  }

  /** kill ends the process without warning, and resolves when it is gone. */
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
