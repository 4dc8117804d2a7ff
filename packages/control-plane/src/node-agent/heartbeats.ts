import { Lease, type Node } from '@bowline/kubernetes';
import { type Clock, formatMicroTime, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, isAlreadyExists, isNotFound } from '@bowline/runtime/client';

/** NODE_LEASE_NAMESPACE is the namespace of node heartbeats. */
export const NODE_LEASE_NAMESPACE = 'kube-node-lease';

/** HeartbeatOptions configures the heartbeats of nodes. */
export interface HeartbeatOptions {
  readonly client: Client;
  /** The clock for renewals. */
  readonly wire: Clock;
  readonly log: Log;
  /** The renewal interval of a Lease. */
  readonly intervalMs: number;
}

interface Beat {
  readonly uid: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The kubelet's value: four missed renewals. */
const LEASE_SECONDS = 40;

/** Heartbeats renews the Leases of the added nodes, each in its own loop. */
export class Heartbeats {
  readonly #options: HeartbeatOptions;
  readonly #client: Client;
  readonly #beats = new Map<string, Beat>();
  readonly #ending = new Set<Promise<void>>();
  #isOver = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#client = options.client.onLeaseLane();
  }

  /** keep starts renewing a node's Lease. Calling it again has no effect, unless it is another node of the same name. */
  keep(node: Node): void {
    const { name = '', uid = '' } = node.metadata ?? {};
    if (this.#isOver || this.#beats.get(name)?.uid === uid) return;
    this.drop(name);
    const stop = new AbortController();
    this.#beats.set(name, { uid, stop, ended: this.#loop(name, uid, stop.signal) });
  }

  /** drop stops renewing; the Lease stays as it is, as after the death of a node. */
  drop(name: string): void {
    const beat = this.#beats.get(name);
    if (!beat) return;
    this.#beats.delete(name);
    beat.stop.abort();
    this.#ending.add(beat.ended);
    void beat.ended.finally(() => this.#ending.delete(beat.ended));
  }

  /** run resolves once the signal was aborted and no renewal is in progress any more. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    this.#isOver = true;
    for (const name of [...this.#beats.keys()]) this.drop(name);
    await Promise.all(this.#ending);
  }

  async #loop(name: string, uid: string, signal: AbortSignal): Promise<void> {
    const { wire, log, intervalMs } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#renew(name, uid, signal);
      } catch (error) {
        if (!signal.aborted) log.warn('cannot renew the Lease of a node', { node: name, error });
      }
      await wire.sleep(intervalMs, signal).catch(() => undefined);
    }
  }

  async #renew(name: string, uid: string, signal: AbortSignal): Promise<void> {
    const key = { namespace: NODE_LEASE_NAMESPACE, name };
    const renewTime = formatMicroTime(this.#options.wire.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
    // With the Node as owner the Lease is deleted with it; a Lease of an earlier Node of this name is taken over.
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    const limits = { signal, timeoutMs: this.#options.intervalMs };
    const renewal = { type: 'merge', body: { metadata: { ownerReferences }, spec } } as const;
    try {
      await this.#client.patch(Lease, key, renewal, limits);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#client
        .create(Lease, { metadata: { ...key, ownerReferences }, spec }, limits)
        .catch((cause: unknown) => {
          if (!isAlreadyExists(cause)) throw cause;
        });
    }
  }
}
