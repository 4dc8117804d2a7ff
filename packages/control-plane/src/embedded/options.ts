import type { Clock, Random } from '@bowline/machinery';
import type { ServiceResolver } from '../server/admission/webhooks/service-address.ts';
import type { OpenApiDocument } from '../server/openapi/descriptions.ts';

/** EmbeddedOptions configures a control plane that runs in this process. */
export interface EmbeddedOptions {
  readonly kind: 'embedded';
  /**
   * Serves HTTPS on 127.0.0.1. Defaults to true. If false, the control plane is only available in this process, through
   * `transport`, and starts faster.
   */
  readonly listen?: boolean | undefined;
  /** The port on 127.0.0.1. Defaults to a free port. */
  readonly port?: number | undefined;
  /**
   * Serves plain HTTP instead of HTTPS: all clients on this machine are anonymous and may only do what roles grant them. Defaults
   * to false.
   */
  readonly plainHttp?: boolean | undefined;
  /** Keeps data and certificates in this folder, so that a later start continues with them. Defaults to memory. */
  readonly dataDir?: string | undefined;
  /** Schedules Pods. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /**
   * Runs the workload controllers (Deployments, Jobs, …). Defaults to true. If false, only garbage collection, namespaces and
   * ServiceAccounts are managed.
   */
  readonly workloads?: boolean | undefined;
  /** The number of nodes simulated by the node agent. Defaults to 2; 0 disables the agent. */
  readonly nodes?: number | undefined;
  /**
   * Resolves the address of webhooks behind a Service, because cluster IPs are not routed. Defaults to none: only Services with
   * an external name can be reached.
   */
  readonly resolveService?: ServiceResolver | undefined;
  /**
   * Loads Kubernetes' own OpenAPI documents (v2 or v3), so that `kubectl explain` shows the descriptions of built-in kinds:
   * for example from a file written by `kubectl get --raw /openapi/v2`. Loaded when the first document is requested. Defaults
   * to none: `kubectl explain` then shows names, types, enums, defaults and required fields.
   */
  readonly openApiDocuments?: (() => Promise<readonly OpenApiDocument[]>) | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Called with errors that are bugs of the control plane, and when the audit log cannot be written. Defaults to nothing. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Aborts the start. A running control plane is stopped with `stop`. */
  readonly signal?: AbortSignal | undefined;
}
