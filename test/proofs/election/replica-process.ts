import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConnectionConfig } from '@bowline/runtime/client';
import type { Endpoint } from '../../support/fault-proxy/endpoint.ts';
import { FaultProxy } from '../../support/fault-proxy/fault-proxy.ts';
import { type JournalEntry, readJournal } from './journal.ts';
import type { FromReplica, ReplicaSettings, ToReplica } from './replica.ts';

/** ReplicaOptions configures a replica. */
export interface ReplicaOptions extends Omit<ReplicaSettings, 'server' | 'ca' | 'journal'> {
  /** The connection to the API server with this replica's own user. */
  readonly upstream: ConnectionConfig;
  /** The folder of its journal. */
  readonly folder: string;
}

/** How long a replica may take for anything it is expected to do. */
const TIMEOUT_MS = 45_000;

const MAX_LOG = 8_192;

/** Replica is a manager in a separate process, behind its own network. */
export class Replica implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #proxy: FaultProxy;
  readonly #endpoint: Endpoint;
  readonly #journal: string;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  #leaseReads = 0;
  #writes = 0;
  #leading = false;
  #log = '';
  #ended: Extract<FromReplica, { type: 'ended' }> | undefined;

  private constructor(name: string, child: ChildProcess, proxy: FaultProxy, endpoint: Endpoint, journal: string) {
    this.name = name;
    this.#child = child;
    this.#proxy = proxy;
    this.#endpoint = endpoint;
    this.#journal = journal;
    this.#exited = once(child, 'exit').finally(() => this.#changed());
    child.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-MAX_LOG);
    });
    child.on('message', (message: FromReplica) => {
      if (message.type === 'leading') this.#leading = true;
      else this.#ended = message;
      this.#changed();
    });
    proxy.schedule = (request) => {
      if (request.path.includes('/leases/') && request.method === 'GET') this.#leaseReads++;
      if (request.path.includes('/configmaps/')) this.#writes++;
      this.#changed();
      return undefined;
    };
  }

  /** start runs a replica; it is a standby or leads when `standingBy` or `leading` resolve. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const { upstream, folder, ...rest } = options;
    const proxy = await FaultProxy.start({ upstream });
    const { server, ca } = await proxy.connection(options.name);
    const journal = join(folder, `${options.name}.jsonl`);
    const settings: ReplicaSettings = { ...rest, server, ca: String(ca), journal };
    const script = fileURLToPath(new URL('./replica.ts', import.meta.url));
    const child = fork(script, [JSON.stringify(settings)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    return new Replica(options.name, child, proxy, await proxy.endpoint(options.name), journal);
  }

  /** standingBy resolves when the replica has read the Lease. */
  standingBy(): Promise<void> {
    return this.#until('stand by', () => this.#leaseReads > 0);
  }

  leading(): Promise<void> {
    return this.#until('lead', () => this.#leading);
  }

  /** wrote resolves after the given number of further successful writes. */
  wrote(count: number): Promise<void> {
    const goal = this.#writes + count;
    return this.#until(`write ${count} times`, () => this.#writes >= goal);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  stall(ms: number): void {
    this.#send({ type: 'stall', ms });
  }

  partition(): void {
    this.#endpoint.partition();
  }

  heal(): void {
    this.#endpoint.heal();
  }

  /** ended tells it to stop trying and returns why it exited by itself; undefined if it was killed. */
  async ended(): Promise<{ reason: string; refused: number } | undefined> {
    this.#send({ type: 'enough' });
    await this.#until('end', () => this.#child.exitCode !== null || this.#child.signalCode !== null);
    return this.#ended;
  }

  /** logTail returns the end of its log, for troubleshooting. */
  get logTail(): string {
    return this.#log;
  }

  journal(): readonly JournalEntry[] {
    return readJournal(this.#journal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#exited;
    await this.#proxy.close();
  }

  #send(message: ToReplica): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #changed(): void {
    for (const check of [...this.#waiting]) check();
  }

  #until(what: string, condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null;
        if (!condition() && !isOver) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        if (condition()) resolve();
        else reject(new Error(`${this.name} exited before it could ${what}`));
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`${this.name} did not ${what} within ${TIMEOUT_MS} ms`));
      }, TIMEOUT_MS);
      this.#waiting.add(check);
      check();
    });
  }
}
