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
  /** Who this process is: unique among the replicas. Defaults to the host name and a random suffix. */
  readonly identity?: string | undefined;
}

/** WebhookServing says how the webhooks of an operator are served and reached; see `WebhooksOptions`. */
export type WebhookServing = Pick<
  WebhooksOptions,
  'address' | 'reachedAt' | 'certificates' | 'configurations' | 'configurationName' | 'onlyNamespaces'
>;

/** ManagerOptions configures a process that runs operators. */
export interface ManagerOptions {
  readonly operators: readonly Operator[];
  /** The client of an operator's own identity. The manager does not close it: whoever made it does, after `run`. */
  readonly clientFor: (operator: Operator) => Client | Promise<Client>;
  /** The operators' sections of the configuration, by name. Defaults to none. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Where the Leases are: the pod's own namespace. Defaults to `<vendor>-system`, after the operators' domain; operators of several
   * domains need one.
   */
  readonly namespace?: string | undefined;
  /**
   * Work in these namespaces only, without rights in the whole cluster: every namespaced kind is watched in each of them, and
   * sources with `clusterWideOnly` are left out. An operator that needs another cluster-scoped kind is refused. Defaults to the
   * whole cluster.
   */
  readonly namespaces?: readonly string[] | undefined;
  /** False to work at once: for a single process that nobody competes with. Defaults to Leases of 15 s. */
  readonly leaderElection?: LeaderElectionOptions | false | undefined;
  /** Times queues, backoff, resyncs, reconciles and the drain. Defaults to the system's clock. */
  readonly clock?: Clock | undefined;
  /** Times what happens between machines: leases, watches. Defaults to the system's clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's randomness. */
  readonly random?: Random | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Defaults to a registry of its own. */
  readonly metrics?: MetricsRegistry | undefined;
  /** Where probes are served: `host:port`, or `0` for nowhere. Defaults to `:8081`. */
  readonly healthAddress?: string | undefined;
  /** Where metrics are served: `host:port`, or `0` for nowhere. Defaults to `:8080`. */
  readonly metricsAddress?: string | undefined;
  /** Serve metrics over HTTPS to those who may read them. Defaults to HTTP for everybody. */
  readonly metricsSecurity?: MetricsSecurity | undefined;
  /**
   * How each operator's webhooks are served. Operators at the same address share a listener, as they do by default: each has a
   * Service and a certificate of its own. Defaults to `:9443` and the other defaults of `WebhooksOptions`.
   */
  readonly webhooksFor?: ((operator: Operator) => WebhookServing) | undefined;
  /** How long running reconciles may go on when the process is told to stop. Defaults to 30 s. */
  readonly drainTimeoutMs?: number | undefined;
  /**
   * How long the first complete state of every kind may take before the process says that it serves without what is
   * missing. A controller starts, sooner or later, when its own kinds are complete. Defaults to 2 minutes.
   */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** How long a watch may show no life before liveness fails. Defaults to 5 minutes. */
  readonly deadWatchAfterMs?: number | undefined;
}
