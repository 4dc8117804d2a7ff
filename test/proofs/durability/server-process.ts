import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Access } from './server-child.ts';

/** How long a control plane may take to restart. */
const TIMEOUT_MS = 60_000;
const MAX_LOG = 8_192;

/** ServerResponse is a response of the server. */
export interface ServerResponse {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly metadata: { readonly resourceVersion: string };
    readonly [field: string]: unknown;
  };
}

/** ServerProcess is a control plane in a separate process, which is killed. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #agent: Agent;
  readonly #startedAt = performance.now();
  #access: Access | undefined;
  #log = '';

  /** The program is `server-child.ts`, bundled, so that it starts as fast as the product. */
  constructor(program: string, folder: string) {
    this.#child = fork(program, [folder], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#exited = once(this.#child, 'exit');
    this.#child.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-MAX_LOG);
    });
    this.#agent = new Agent({ keepAlive: true });
  }

  /** ready resolves when the control plane responds, with the time it took. */
  async ready(): Promise<number> {
    const late = new AbortController();
    const [access] = (await Promise.race([
      once(this.#child, 'message', { signal: late.signal }),
      this.#exited.then(() => {
        throw new Error(`the control plane did not come back: ${this.#log}`);
      }),
      pause(TIMEOUT_MS, undefined, { ref: false, signal: late.signal }).then(() => {
        throw new Error(`the control plane did not come back within ${TIMEOUT_MS} ms: ${this.#log}`);
      }),
    ]).finally(() => late.abort())) as [Access];
    this.#access = access;
    return performance.now() - this.#startedAt;
  }

  /** call sends a request; it rejects if the process has exited. */
  call(method: string, path: string, body?: unknown, type = 'application/json'): Promise<ServerResponse> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const { url = '', ca, certificate: cert, key } = this.#access ?? {};
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const sent = request(`${url}${path}`, { method, headers, ca, cert, key, agent: this.#agent }, (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
        response.on('error', reject);
        response.on('end', () => {
          // Killed during a response.
          if (!response.complete) reject(new Error('the response was truncated'));
          else resolve({ status: response.statusCode ?? 0, body: JSON.parse(received) as ServerResponse['body'] });
        });
      });
      sent.on('error', reject).end(text);
    });
  }

  /** kill kills the process without warning, and resolves when it has exited. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
    this.#agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
