import type { Clock, Random } from '@bowline/machinery';
import type { ServiceResolver } from '../server/admission/webhooks/service-address.ts';
import type { OpenApiDocument } from '../server/openapi/descriptions.ts';

/** EmbeddedOptions describe a control plane that runs in this process. */
export interface EmbeddedOptions {
  readonly kind: 'embedded';
  /**
   * Serves HTTPS on 127.0.0.1. Defaults to true; without, the control plane is there for this process alone, through
   * `transport`, and starts sooner.
   */
  readonly listen?: boolean | undefined;
  /** The port on 127.0.0.1. Defaults to a free one. */
  readonly port?: number | undefined;
  /**
   * Serves plain HTTP instead of HTTPS: then everybody on this machine is anonymous, and may do nothing but what roles
   * allow them. Defaults to false.
   */
  readonly plainHttp?: boolean | undefined;
  /** Keeps data and certificates in this folder, so that a later start continues. Defaults to memory. */
  readonly dataDir?: string | undefined;
  /** Schedules Pods. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /**
   * Runs the controllers of workloads: Deployments, Jobs, …. Defaults to true; without, only garbage collection, namespaces
   * and ServiceAccounts are looked after.
   */
  readonly workloads?: boolean | undefined;
  /** How many nodes the node agent plays. Defaults to 2; with 0 there is no agent. */
  readonly nodes?: number | undefined;
  /**
   * Finds where the webhooks behind a Service listen: cluster IPs lead nowhere. Defaults to none, so that only Services with an
   * external name are reached.
   */
  readonly resolveService?: ServiceResolver | undefined;
  /**
   * Loads Kubernetes' own OpenAPI documents (v2 or v3), so that `kubectl explain` shows the descriptions of built-in kinds:
   * for example from a file written by `kubectl get --raw /openapi/v2`. Loaded when the first document is requested. Defaults
   * to none: `kubectl explain` then shows names, types, enums, defaults and required fields.
   */
  readonly openApiDocuments?: (() => Promise<readonly OpenApiDocument[]>) | undefined;
  /** Defaults to the machine's. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Told of errors that are bugs of the control plane, and of an audit log that cannot be written. Defaults to nobody. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Ends the start. What runs is stopped with `stop`. */
  readonly signal?: AbortSignal | undefined;
}
