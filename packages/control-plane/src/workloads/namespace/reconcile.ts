import { keyOf, Namespace, type Resource } from '@bowline/kubernetes';
import { type Clock, formatTime, type Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';
import { Queue } from '@bowline/runtime/controller';
import { withConditions } from '../../node-agent/conditions.ts';
import { sameJson } from '../../node-agent/same-json.ts';
import type { ApiKinds } from '../objects/api-kinds.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { ObjectObserver } from '../objects/object-monitors.ts';
import { runWorkQueue } from '../objects/work-queue.ts';
import { terminatingConditions } from './conditions.ts';
import { deleteContent } from './content.ts';

/** NamespaceControllerOptions holds the dependencies of the deletion of namespaces. */
export interface NamespaceControllerOptions {
  /** A client that may read and delete everything. */
  readonly client: Client;
  /** kinds returns the kinds that the server serves now. */
  readonly kinds: (signal: AbortSignal) => Promise<ApiKinds>;
  /** The clock for the timestamps of conditions. */
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
}

const WORKERS = 4;
/** The finalizer that keeps a namespace until it is empty. */
const FINALIZER = 'kubernetes';
/** Many objects are deleted at once; one pass handles them all. */
const BATCH_MS = 20;
/** Most deletions are reported at once; this interval is for objects that are not watched. */
const RECHECK_MS = 5_000;
const BACKOFF = { minMs: 50, maxMs: 60_000 };

/** NamespaceController empties the namespaces that are being deleted, and then releases them. */
export class NamespaceController implements ObjectObserver {
  readonly #options: NamespaceControllerOptions;
  readonly #queue: Queue;
  readonly #terminating = new Set<string>();

  constructor(options: NamespaceControllerOptions) {
    const { wire, random } = options;
    this.#options = options;
    this.#queue = new Queue({ name: 'namespaces', clock: wire, random, backoff: BACKOFF });
  }

  upserted(resource: Resource, { name, isDeleting }: ObjectFacts): void {
    if (!isNamespaces(resource) || !isDeleting) return;
    this.#terminating.add(name);
    this.#queue.add(name);
  }

  deleted(resource: Resource, { name, namespace }: ObjectFacts): void {
    if (isNamespaces(resource)) this.#terminating.delete(name);
    else if (namespace !== undefined && this.#terminating.has(namespace)) {
      this.#queue.add(namespace, { afterMs: BATCH_MS });
    }
  }

  isTracked(): boolean {
    return false;
  }

  listed(): void {
    // A deletion that was missed is found when its namespace is checked again.
  }

  /** run works until the signal is aborted, and resolves when no work is in progress. */
  run(signal: AbortSignal): Promise<void> {
    const work = (name: string, within: AbortSignal): Promise<void> => this.#reconcile(name, within);
    return runWorkQueue(signal, { queue: this.#queue, concurrency: WORKERS, log: this.#options.log, work });
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options;
    const namespace = await client.find(Namespace, { name }, { signal });
    if (namespace?.metadata?.deletionTimestamp === undefined) {
      this.#terminating.delete(name);
      return;
    }
    if (!namespace.spec?.finalizers?.includes(FINALIZER)) return;
    const served = await kinds(signal);
    const outcome = await deleteContent(client, name, served, signal);
    const current = await this.#report(namespace, terminatingConditions(outcome, served.stale), signal);
    const isEmpty = outcome.remaining.length === 0 && outcome.failures.length === 0 && served.stale.length === 0;
    if (isEmpty) await this.#release(current, signal);
    else this.#queue.add(name, { afterMs: RECHECK_MS });
  }

  async #report(
    namespace: Namespace,
    wanted: ReturnType<typeof terminatingConditions>,
    signal: AbortSignal,
  ): Promise<Namespace> {
    const { client, clock } = this.#options;
    const conditions = withConditions(namespace.status?.conditions, wanted, formatTime(clock.now()));
    const status = { ...namespace.status, phase: 'Terminating' as const, conditions };
    if (sameJson(namespace.status, status)) return namespace;
    return client.update(Namespace, { ...namespace, status }, { subresource: 'status', signal });
  }

  async #release(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== FINALIZER);
    const released: Namespace = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await this.#options.client
      .update(Namespace, released, { subresource: 'finalize', signal })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    this.#terminating.delete(keyOf(namespace).name);
  }
}

function isNamespaces({ group, plural }: Resource): boolean {
  return group === '' && plural === 'namespaces';
}
