import { connectClient } from '@bowline/control-plane';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { createLog } from '@bowline/runtime/manager';
import { type RunningWebhooks, startWebhooks } from '@bowline/runtime/webhook';
import { shipWebhooks } from './ship.ts';

type Kubeconfig = Parameters<typeof connectClient>[0];

/** The proportions of the defaults (90 days and a year), in seconds: a third of a certificate's lifetime is 5 s. */
export const LIVES = { leafValidForMs: 15_000, authorityValidForMs: 45_000, propagationMs: 1_500 };
export const OPERATOR = 'proof';

/** ReplicaOptions configures a replica. */
export interface ReplicaOptions {
  readonly name: string;
  readonly namespace: string;
  readonly kubeconfig: Kubeconfig;
  /** The address at which the API server calls all replicas. */
  readonly url: string;
}

/** Replica is one process of the operator, reduced to webhooks: its own client, cache and server. */
export class Replica {
  readonly name: string;
  readonly #client: Client;
  readonly #stop: AbortController;
  readonly #caching: Promise<void>;
  readonly #webhooks: RunningWebhooks;

  private constructor(
    name: string,
    client: Client,
    stop: AbortController,
    caching: Promise<void>,
    webhooks: RunningWebhooks,
  ) {
    this.name = name;
    this.#client = client;
    this.#stop = stop;
    this.#caching = caching;
    this.#webhooks = webhooks;
  }

  static async start({ name, namespace, kubeconfig, url }: ReplicaOptions): Promise<Replica> {
    const client = await connectClient(kubeconfig, { component: name });
    const cache = new Cache({ client });
    const stop = new AbortController();
    const caching = cache.run(stop.signal);
    const webhooks = await startWebhooks({
      operator: OPERATOR,
      domain: 'bowline.dev',
      webhooks: shipWebhooks(name),
      namespace,
      client,
      cache,
      address: '127.0.0.1:0',
      reachedAt: { url },
      certificates: { kind: 'managed', ...LIVES },
      // One handshake per few requests, so that an untrusted certificate is detected immediately.
      maxRequestsPerConnection: 4,
      log: createLog({ level: 'warn', format: 'text' }).with({ replica: name }),
      signal: stop.signal,
    });
    return new Replica(name, client, stop, caching, webhooks);
  }

  get port(): number {
    return this.#webhooks.port;
  }

  ready(): Promise<void> {
    return this.#webhooks.ready(AbortSignal.timeout(20_000));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#caching, this.#webhooks.stopped]);
    await this.#client.close();
  }
}
