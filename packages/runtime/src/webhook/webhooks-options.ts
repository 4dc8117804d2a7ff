import type { Resource } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Cache } from '../cache/cache.ts';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { HealthCheck } from '../operations/health.ts';
import type { WebhookAddress } from './configurations.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookServers } from './webhook-servers.ts';

/**
 * ManagedCertificateOptions lets the runtime issue and rotate the certificate itself; keep the defaults in production.
 */
export interface ManagedCertificateOptions {
  readonly kind: 'managed';
  /** Renewed when a third of it is left. Defaults to 90 days. */
  readonly leafValidForMs?: number | undefined;
  /** The lifetime of the CA; replaced when a third of it is left. Defaults to one year. */
  readonly authorityValidForMs?: number | undefined;
  /**
   * How long every configuration must have a new CA before it issues, which covers the time API servers need to observe
   * it. Defaults to 2 minutes.
   */
  readonly propagationMs?: number | undefined;
}

/** ExternalCertificateOptions uses a certificate that is managed externally. */
export type ExternalCertificateOptions = (
  | { readonly kind: 'files' /** Holds tls.crt, tls.key and perhaps ca.crt. */; readonly folder: string }
  | {
      readonly kind: 'secret' /** A Secret in the operator's namespace with tls.crt, tls.key and perhaps ca.crt. */;
      readonly name: string;
    }
) & {
  /** Writes `ca.crt` into the configurations. Defaults to false: cert-manager's injector, or the chart, does that. */
  readonly inject?: boolean | undefined;
};

/** CertificateOptions configures where the server's certificate comes from. */
export type CertificateOptions = ManagedCertificateOptions | ExternalCertificateOptions;

/** WebhooksOptions configures how one replica serves the webhooks of one operator. */
export interface WebhooksOptions {
  readonly operator: string;
  /** The operator's domain. */
  readonly domain: string;
  readonly webhooks: readonly Webhook[];
  /** The operator's own namespace, which contains its Secret `<operator>-webhook-tls`. */
  readonly namespace: string;
  /**
   * The client with the operator's identity. It must not wait for leadership: every replica serves webhooks and may
   * renew the certificate.
   */
  readonly client: Client;
  /** The operator's cache; it is run elsewhere. */
  readonly cache: Cache;
  /** The return value of the operator's `setup`. Defaults to undefined. */
  readonly deps?: unknown;
  /** The listen address: `host:port` or `:port`; port 0 means any free port. Defaults to `:9443`. */
  readonly address?: string | undefined;
  /** The listeners of the process: operators at the same address share one. Defaults to a new one. */
  readonly servers?: WebhookServers | undefined;
  /**
   * The address at which the API server calls the webhooks. `loopback` is https://127.0.0.1 with the listening port.
   * Defaults to the Service `<operator>-webhook` in the own namespace.
   */
  readonly reachedAt?: WebhookAddress | 'loopback' | undefined;
  /** Defaults to `{ kind: 'managed' }`. */
  readonly certificates?: CertificateOptions | undefined;
  /**
   * Who owns the webhook configurations. `chart`: they are managed externally and only `caBundle` is written.
   * `runtime`: they are created and updated here, which works only with one replica or one address for all. Defaults to
   * `chart`.
   */
  readonly configurations?: 'chart' | 'runtime' | undefined;
  /** The configurations' name. Defaults to `<vendor>-<operator>`. */
  readonly configurationName?: string | undefined;
  /**
   * Restricts the webhooks to these namespaces, where the configurations are created here. Defaults to all but the own
   * one.
   */
  readonly onlyNamespaces?: readonly string[] | undefined;
  /**
   * The operator's own kinds, the only ones that may have failurePolicy Fail. Defaults to any kind that is not built
   * into Kubernetes.
   */
  readonly ownKinds?: readonly Resource[] | undefined;
  /**
   * Larger bodies get 413. A review contains up to two objects, and the API server accepts requests of 3 MiB; the rest
   * is for JSON escaping and the review itself. All bodies together may hold at most eight times as much; further
   * bodies are paused while that limit is reached. Defaults to 8 MiB.
   */
  readonly maxBodyBytes?: number | undefined;
  /** The maximum number of concurrent reviews; others wait, within their own timeout. Defaults to 64. */
  readonly maxInFlight?: number | undefined;
  /**
   * A connection is closed after this many requests, so that callers are distributed over the replicas again. Defaults
   * to 1000.
   */
  readonly maxRequestsPerConnection?: number | undefined;
  /**
   * How long requests are still served once the signal is aborted, because API servers may have sent one before. 0 is
   * for tests that send none at that time. Defaults to 500 ms.
   */
  readonly lingerMs?: number | undefined;
  /** How long active reviews may take once the signal is aborted. Defaults to 10 s. */
  readonly drainMs?: number | undefined;
  /** The clock passed to handlers. Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** The clock for requests and certificates. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics | undefined;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

/** RunningWebhooks controls webhooks that are being served. */
export interface RunningWebhooks {
  /** The listening port. */
  readonly port: number;
  /** ready resolves once requests can be served: there is a certificate and the caches of the handlers are synced. */
  ready(signal?: AbortSignal): Promise<void>;
  /** announced resolves once they are ready and the configurations managed here make API servers call them. */
  announced(signal?: AbortSignal): Promise<void>;
  /** check returns the readiness of the webhooks, for the probes. */
  check(): HealthCheck;
  /**
   * Resolves once the signal was aborted, active reviews are complete and nothing runs any more; rejects if a part
   * failed unexpectedly.
   */
  readonly stopped: Promise<void>;
}
