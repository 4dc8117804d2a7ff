import type { Clock, Random } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { LeaseTiming } from '../leader-election/lease-timing.ts';
import type { MetricsRegistry } from '../observability/create-metrics.ts';
import type { Log } from '../observability/log.ts';
import type { MetricsSecurity } from '../operations/operations-server.ts';
import type { Operator } from '../operator/operator.ts';
import type { WebhooksOptions } from '../webhook/webhooks-options.ts';

/** LeaderElectionOptions configures the Leases, one per operator. Every replica should use the same durations. */
export interface LeaderElectionOptions extends Partial<LeaseTiming> {
  /** The identity of this process; must be unique among the replicas. Defaults to the host name and a random suffix. */
  readonly identity?: string | undefined;
}

/** WebhookServing configures how the webhooks of an operator are served and called; see `WebhooksOptions`. */
export type WebhookServing = Pick<
  WebhooksOptions,
  'address' | 'reachedAt' | 'certificates' | 'configurations' | 'onlyNamespaces' | 'lingerMs'
>;

/** ManagerOptions configures a process that runs operators. */
export interface ManagerOptions {
  readonly operators: readonly Operator[];
  /**
   * Returns the client with an operator's own identity. The manager does not close it: its creator does, after `run`.
   */
  readonly clientFor: (operator: Operator) => Client | Promise<Client>;
  /** The operators' sections of the configuration, by name. Defaults to none. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The namespace of the Leases: the pod's own namespace. Defaults to `<vendor>-system`, derived from the operators'
   * domain; it is required if the operators have several domains.
   */
  readonly namespace?: string | undefined;
  /**
   * Restricts the manager to these namespaces, without permissions in the whole cluster: every namespaced kind is
   * watched in each of them, and sources with `clusterWideOnly` are omitted. An operator that needs another
   * cluster-scoped kind is rejected. Defaults to the whole cluster.
   */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * The image that the process runs from; operators get it in `setup`. Defaults to none: the process does not run in a
   * container.
   */
  readonly image?: string | undefined;
  /**
   * The folder that the scratch folders of operators are created in, each named after its operator. They are not
   * removed. Two processes must not use the same folder. Defaults to temporary folders, which are removed at the end.
   */
  readonly scratchFolder?: string | undefined;
  /** False to start without election, for a single process without other replicas. Defaults to Leases of 15 s. */
  readonly leaderElection?: LeaderElectionOptions | false | undefined;
  /** The clock for queues, backoff, resyncs, reconciles and the drain. Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** The clock for leases and watches. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Defaults to a new registry. */
  readonly metrics?: MetricsRegistry | undefined;
  /** The listen address of the probes: `host:port`, or `0` for none. Defaults to `:8081`. */
  readonly healthAddress?: string | undefined;
  /** The listen address of metrics: `host:port`, or `0` for none. Defaults to `:8080`. */
  readonly metricsAddress?: string | undefined;
  /** Serves metrics over HTTPS to authorized clients only. Defaults to HTTP without authorization. */
  readonly metricsSecurity?: MetricsSecurity | undefined;
  /**
   * Returns the name of an operator's install: that of its webhook configurations, and the beginning of the names of its
   * companions. Defaults to `<vendor>-<operator>`.
   */
  readonly installNameFor?: ((operator: Operator) => string) | undefined;
  /**
   * Configures how each operator's webhooks are served. Operators at the same address, as by default, share a listener;
   * each has its own Service and certificate. Defaults to `:9443` and the other defaults of `WebhooksOptions`.
   */
  readonly webhooksFor?: ((operator: Operator) => WebhookServing) | undefined;
  /** How long running reconciles may continue when the process is stopped. Defaults to 30 s. */
  readonly drainTimeoutMs?: number | undefined;
  /**
   * How long the initial sync of all kinds may take before the process reports that it serves without the missing ones.
   * A controller starts once its own kinds are synced, however late. Defaults to 2 minutes.
   */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** How long a watch may be inactive before liveness fails. Defaults to 5 minutes. */
  readonly deadWatchAfterMs?: number | undefined;
}
