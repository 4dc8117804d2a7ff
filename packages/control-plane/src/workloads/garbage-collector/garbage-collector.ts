import type { Resource } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { Queue } from '@bowline/runtime/controller';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { ObjectObserver } from '../objects/object-monitors.ts';
import { runWorkQueue } from '../objects/work-queue.ts';
import { type GraphNode, OwnerGraph } from './owner-graph.ts';
import { AbsentOwners, type CollectorParts, reconcile } from './reconcile.ts';

/** GarbageCollectorOptions holds the dependencies of a garbage collector. */
export interface GarbageCollectorOptions {
  /** A client that may read, change and delete everything. */
  readonly client: Client;
  /** find returns the kind that an owner reference names. */
  readonly find: (apiVersion: string, kind: string) => Resource | undefined;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
}

const WORKERS = 16;
/** Every kind has its own watch: the watch of the dependents may lag slightly behind that of the owner. */
const DEPENDENTS_LAG_MS = 50;
/** What fails now often succeeds soon: a conflict, or a kind that is just being defined. */
const BACKOFF = { minMs: 50, maxMs: 60_000 };

/** GarbageCollector deletes objects whose owners are gone, according to their owner references. */
export class GarbageCollector implements ObjectObserver {
  readonly #graph: OwnerGraph;
  readonly #queue: Queue;
  readonly #options: GarbageCollectorOptions;
  readonly #parts: CollectorParts;

  constructor(options: GarbageCollectorOptions) {
    const { client, find, wire, random } = options;
    this.#options = options;
    this.#queue = new Queue({ name: 'garbage-collector', clock: wire, random, backoff: BACKOFF });
    const enqueue = (node: GraphNode): void => {
      this.#queue.add(node.uid, node.isForeground ? { afterMs: DEPENDENTS_LAG_MS } : {});
    };
    const enqueueLater = (node: GraphNode): void => {
      this.#queue.add(node.uid, { afterMs: DEPENDENTS_LAG_MS });
    };
    this.#graph = new OwnerGraph({ attemptToDelete: enqueue, attemptToOrphan: enqueueLater }, find);
    this.#parts = { client, graph: this.#graph, absent: new AbsentOwners(), find, enqueue };
  }

  isTracked(uid: string): boolean {
    return this.#graph.get(uid) !== undefined;
  }

  upserted(resource: Resource, facts: ObjectFacts): void {
    this.#graph.upsert(resource, facts);
  }

  deleted(_resource: Resource, { uid }: ObjectFacts): void {
    this.#graph.delete(uid);
  }

  listed(resource: Resource, uids: ReadonlySet<string>): void {
    this.#graph.deleteMissing(resource, uids);
  }

  /** kindsChanged checks again the objects that referred to kinds that were not served. */
  kindsChanged(): void {
    for (const node of this.#graph.unresolved()) this.#queue.add(node.uid);
  }

  /**
   * run works until the signal is aborted, and resolves when no work is in progress. Call it when every kind is known.
   */
  run(signal: AbortSignal): Promise<void> {
    return runWorkQueue(signal, {
      queue: this.#queue,
      concurrency: WORKERS,
      log: this.#options.log,
      work: async (uid, within) => {
        const node = this.#graph.get(uid);
        if (node) await reconcile(node, this.#parts, within);
      },
    });
  }
}
