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

/** ManagedCertificateOptions lets the runtime issue and rotate the certificate itself; for production keep the defaults. */
export interface ManagedCertificateOptions {
  readonly kind: 'managed';
  /** Renewed when a third of it is left. Defaults to 90 days. */
  readonly leafValidForMs?: number | undefined;
  /** The authority's life; replaced when a third of it is left. Defaults to one year. */
  readonly authorityValidForMs?: number | undefined;
  /** How long every configuration holds a new authority before it issues: the time that API servers need to notice. Defaults to 2 minutes. */
  readonly propagationMs?: number | undefined;
}

/** GivenCertificateOptions takes a certificate that somebody else keeps. */
export type GivenCertificateOptions = (
  | { readonly kind: 'files' /** Holds tls.crt, tls.key and perhaps ca.crt. */; readonly folder: string }
  | {
      readonly kind: 'secret' /** A Secret in the operator's namespace with tls.crt, tls.key and perhaps ca.crt. */;
      readonly name: string;
    }
) & {
  /** Write `ca.crt` into the configurations. Defaults to false: cert-manager's injector, or the chart, does that. */
  readonly inject?: boolean | undefined;
};

/** CertificateOptions says where the server's certificate comes from. */
export type CertificateOptions = ManagedCertificateOptions | GivenCertificateOptions;

/** WebhooksOptions is what the webhooks of one operator need to be served by one replica. */
export interface WebhooksOptions {
  readonly operator: string;
  /** The operator's domain. */
  readonly domain: string;
  readonly webhooks: readonly Webhook[];
  /** The operator's own namespace, where its Secret `<operator>-webhook-tls` is. */
  readonly namespace: string;
  /** The operator's identity. Must not wait for leadership: every replica serves webhooks and may renew the certificate. */
  readonly client: Client;
  /** The operator's cache; somebody else runs it. */
  readonly cache: Cache;
  /** What the operator's `setup` returned. Defaults to undefined. */
  readonly deps?: unknown;
  /** Where to listen: `host:port` or `:port`; port 0 means any free one. Defaults to `:9443`. */
  readonly address?: string | undefined;
  /** The listeners of the process: operators at the same address share one. Defaults to one of its own. */
  readonly servers?: WebhookServers | undefined;
  /** Where the API server reaches it. `loopback` is https://127.0.0.1 at the port that is listened on. Defaults to the Service `<operator>-webhook` in the own namespace. */
  readonly reachedAt?: WebhookAddress | 'loopback' | undefined;
  /** Defaults to `{ kind: 'managed' }`. */
  readonly certificates?: CertificateOptions | undefined;
  /**
   * Who owns the webhook configurations. `chart`: somebody else; only `caBundle` is written. `runtime`: they are made and
   * kept here, which only fits one replica or one address for all. Defaults to `chart`.
   */
  readonly configurations?: 'chart' | 'runtime' | undefined;
  /** The configurations' name. Defaults to `<vendor>-<operator>`. */
  readonly configurationName?: string | undefined;
  /** Only these namespaces are asked about, where the configurations are made here. Defaults to all but the own one. */
  readonly onlyNamespaces?: readonly string[] | undefined;
  /** The operator's own kinds: the only ones that may have failurePolicy Fail. Defaults to any kind that is not Kubernetes' own. */
  readonly ownKinds?: readonly Resource[] | undefined;
  /**
   * Larger bodies get 413. A review holds up to two objects, and the API server takes requests of 3 MiB; the rest is for
   * the escaping of JSON and what surrounds them. Of all bodies together no more than eight times as much is held: others
   * arrive when those are answered. Defaults to 8 MiB.
   */
  readonly maxBodyBytes?: number | undefined;
  /** Reviews that are answered at the same time; others wait, within their own time. Defaults to 64. */
  readonly maxInFlight?: number | undefined;
  /** After this many requests a connection is closed, so that callers spread over replicas again. Defaults to 1000. */
  readonly maxRequestsPerConnection?: number | undefined;
  /** How long reviews under way may take once the signal is aborted. Defaults to 10 s. */
  readonly drainMs?: number | undefined;
  /** What handlers are given. Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Times requests and certificates. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

/** RunningWebhooks are webhooks that are served. */
export interface RunningWebhooks {
  /** The port that is listened on. */
  readonly port: number;
  /** ready resolves once requests can be answered: there is a certificate and what handlers read is complete. */
  ready(signal?: AbortSignal): Promise<void>;
  /** announced resolves once they are ready and the configurations that are kept here make API servers ask. */
  announced(signal?: AbortSignal): Promise<void>;
  /** check is the readiness of the webhooks, for the probes. */
  check(): HealthCheck;
  /** Settles once the signal was aborted, reviews under way are answered and nothing runs any more; rejects when a part ended that must not. */
  readonly stopped: Promise<void>;
}
