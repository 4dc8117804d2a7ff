import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@bowline/runtime/client';
import { SERVED_BY, Ship, ship } from './ship.ts';

/** The pause between two requests of a writer: short enough to detect a gap of a few milliseconds. */
const PAUSE_MS = 15;

/** LoadCounts holds the results of the writers so far. */
export interface LoadCounts {
  admitted: number;
  denied: number;
  /** Admitted objects by the replica that changed them. */
  readonly byReplica: Map<string, number>;
}

/** Load continuously writes ships; every admission with an unexpected result is a failure. */
export class Load {
  readonly counts: LoadCounts = { admitted: 0, denied: 0, byReplica: new Map() };
  readonly failures: string[] = [];
  readonly #client: Client;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #writers: readonly Promise<void>[];

  constructor(client: Client, namespace: string, writers: number) {
    this.#client = client;
    this.#namespace = namespace;
    this.#writers = Array.from({ length: writers }, (_, index) => this.#write(index));
  }

  async #write(index: number): Promise<void> {
    for (let n = 0; !this.#stop.signal.aborted; n++) {
      // Now and then send an object that must be denied: a webhook that is not called would let it pass.
      if (n % 10 === index) await this.#forbidden(n);
      else await this.#admitted(n);
      await pause(PAUSE_MS);
    }
  }

  async #admitted(n: number): Promise<void> {
    try {
      const wanted = ship(this.#namespace, 'sail');
      const stored = await this.#client.create(Ship, wanted, { dryRun: n % 2 === 0 });
      const replica = stored.metadata?.annotations?.[SERVED_BY];
      if (replica === undefined) this.failures.push('an object was admitted without being mutated');
      else this.counts.byReplica.set(replica, (this.counts.byReplica.get(replica) ?? 0) + 1);
      this.counts.admitted++;
    } catch (error) {
      this.failures.push(String(error));
    }
  }

  async #forbidden(n: number): Promise<void> {
    try {
      await this.#client.create(Ship, ship(this.#namespace, 'sink'), { dryRun: n % 2 === 0 });
      this.failures.push('an object was admitted that must be denied');
    } catch (error) {
      if (String(error).includes('denied the request')) this.counts.denied++;
      else this.failures.push(String(error));
    }
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#writers);
  }
}
