import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EmbeddedControlPlane, startControlPlane } from '@bowline/control-plane';
import type { Transport } from '@bowline/runtime';
import type { HostileRequest } from './hostile-request.ts';
import { problemOf, type Told } from './judge.ts';
import { WatchedStream } from './watched-stream.ts';

/** Nobody waits longer for an answer. Only the processor's time counts: other programs may run on this machine. */
const MOST_CPU_MS = 1_500;
const MOST_WAIT_MS = 20_000;
const MOST_WATCHES = 8;

/** FuzzedServer is an embedded control plane in this process that is asked anything. */
export class FuzzedServer implements AsyncDisposable {
  readonly #controlPlane: EmbeddedControlPlane;
  readonly #admin: Transport;
  readonly #bugs: unknown[];
  readonly #watches: WatchedStream[] = [];
  /** How long the slowest answer took the processor, in milliseconds, and what was asked. */
  slowest = { cpuMs: 0, family: '' };
  readonly statuses: Record<string, number> = {};

  private constructor(controlPlane: EmbeddedControlPlane, admin: Transport, bugs: unknown[]) {
    this.#controlPlane = controlPlane;
    this.#admin = admin;
    this.#bugs = bugs;
  }

  static async start(): Promise<FuzzedServer> {
    const bugs: unknown[] = [];
    const controlPlane = await startControlPlane({
      kind: 'embedded',
      listen: false,
      workloads: false,
      scheduler: false,
      nodes: 0,
      onError: (error) => bugs.push(error),
    });
    return new FuzzedServer(controlPlane, await controlPlane.transport('admin'), bugs);
  }

  /** ask sends a request that must be answered, and answers what it says. */
  async ask(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<Told> {
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = { 'content-type': contentType, accept: 'application/json' };
    const response = await this.#admin.request({ method: method as 'GET', path, headers, lane: 'call', ...content });
    return {
      status: response.status,
      contentType: response.headers['content-type'] ?? '',
      text: await response.text(),
    };
  }

  /** attack sends a request and answers everything that is wrong with the answer. */
  async attack(request: HostileRequest): Promise<string[]> {
    const { method, path, headers, body } = request;
    const problems: string[] = [];
    const gone = new AbortController();
    const began = process.cpuUsage();
    // The server's own timers do not keep the process alive.
    const timer = setTimeout(() => gone.abort(new Error(`nothing came within ${MOST_WAIT_MS} ms`)), MOST_WAIT_MS);
    try {
      const response = await this.#admin.request({
        method: method as 'GET',
        path,
        headers,
        lane: 'call',
        signal: gone.signal,
        ...(body === undefined ? {} : { body }),
      });
      this.statuses[response.status] = (this.statuses[response.status] ?? 0) + 1;
      const contentType = response.headers['content-type'] ?? '';
      if (response.headers['cache-control'] === 'no-cache, private' && response.status === 200 && isWatch(path)) {
        this.#watch(new WatchedStream(response.body, gone, path));
      } else {
        const problem = problemOf({ status: response.status, contentType, text: await response.text() });
        if (problem !== undefined) problems.push(problem);
      }
    } catch (error) {
      problems.push(`no answer: ${String(error)}`);
    } finally {
      clearTimeout(timer);
    }
    const { user, system } = process.cpuUsage(began);
    const cpuMs = Math.round((user + system) / 1_000);
    if (cpuMs > this.slowest.cpuMs) this.slowest = { cpuMs, family: request.family };
    if (cpuMs > MOST_CPU_MS) problems.push(`took ${cpuMs} ms of the processor`);
    for (const bug of this.#bugs.splice(0)) problems.push(`failed: ${bug instanceof Error ? bug.stack : String(bug)}`);
    return problems;
  }

  /** Old watches make place for new ones. */
  #watch(stream: WatchedStream): void {
    this.#watches.push(stream);
    if (this.#watches.length > MOST_WATCHES) this.#watches.shift()?.close();
  }

  /** watchProblems is what open watches were told that they must not be told. */
  watchProblems(): string[] {
    return this.#watches.flatMap((watch) => watch.problems.splice(0));
  }

  /** heapBytes is what is held once everything is forgotten that may be. */
  async heapBytes(): Promise<number> {
    await this.#controlPlane.faults.compact();
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch.close();
    await this.#admin.close();
    await this.#controlPlane.stop();
  }
}

function isWatch(path: string): boolean {
  return /[?&]watch=|\/watch\//.test(path);
}
