import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import type { TriggerView, View, ViewOf } from '../cache/view.ts';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { HealthCheck } from '../operations/health.ts';

/** ServiceContext connects a running service with the replica that it runs on. */
export interface ServiceContext {
  /**
   * Allows what the operator declares, and rejects everything else with BOWLINE_UNDECLARED_PERMISSION. Unlike the
   * client of `setup` it also writes on replicas that do not lead, so several replicas may write at the same time. In a
   * `leaderOnly` service it writes only while this process leads.
   */
  readonly client: Client;
  /**
   * informer returns an informer of the operator's cache, which is kept current on every replica. Only what a
   * controller or webhook of the operator watches can be read; anything else throws BOWLINE_SOURCE_UNDECLARED. Wait
   * with `synced` before the first read.
   */
  informer<T extends KubernetesObject, Id extends string, const V extends ServiceView<T> = 'full'>(
    resource: Resource<T, Id>,
    options?: ServiceInformerOptions<V>,
  ): ServiceInformer<ViewOf<Resource<T, Id>, V>>;
  /** listensOn reports the port that the service listens on, for `OperatorStatus.services`. It counts until it ends. */
  listensOn(port: number): void;
  /**
   * readiness adds a check to `/readyz` of this replica. The check also fails while the service is restarted after a
   * failure. A service that never calls it does not affect readiness.
   */
  readiness(check: () => ServiceReadiness): void;
}

/** ServiceView is a view that a service can read through. A `trigger` view depends on the controller that declares it. */
export type ServiceView<T extends KubernetesObject> = Exclude<View<T>, TriggerView>;

/** ServiceInformerOptions selects a source that a controller or webhook of the operator declares. */
export interface ServiceInformerOptions<V> {
  /** Another view than the declared one needs a watch of its own. Defaults to `full`. */
  readonly view?: V | undefined;
  /** As declared. Defaults to none. */
  readonly labelSelector?: string | undefined;
  /** As declared. Defaults to none. */
  readonly fieldSelector?: string | undefined;
}

/** ServiceInformer reads one kind from the operator's cache. Returned objects are shared: never modify them. */
export type ServiceInformer<V> = Pick<Informer<V>, 'get' | 'list' | 'subscribe' | 'synced' | 'hasSynced'>;

/** ServiceReadiness is the result of a readiness check of a service. */
export type ServiceReadiness = Pick<HealthCheck, 'ok' | 'message'>;

/** Service runs beside the controllers: a receiver, an API, a poller. */
export interface Service<in Deps = never, in Config = unknown> {
  readonly name: string;
  /** Run on the leader only. Defaults to false: on every replica. */
  readonly leaderOnly?: boolean | undefined;
  /**
   * The port that it listens on in a cluster: the manifests of an install then contain the port of the container and a
   * Service `<operator>-<service>` with the same port. A function computes it from the configuration; undefined or 0
   * means none. Defaults to none.
   */
  readonly port?: number | ((config: Config) => number | undefined) | undefined;
  /** run works until the signal is aborted. If it throws, it is restarted with a growing delay of up to a minute. */
  readonly run: (signal: AbortSignal, deps: Deps, context: ServiceContext) => Promise<void>;
}

/** DeclaredService is a service of an operator whose types are erased: `defineOperator` checked them. */
export type DeclaredService = Service<never, never>;

/** MAX_SERVICE_NAME_CHARACTERS bounds the names of Services. */
const MAX_SERVICE_NAME_CHARACTERS = 63;

/** servicePortProblem returns why the port of a service cannot be that of a Service; undefined when it can. */
export function servicePortProblem(operator: string, { name, port }: DeclaredService): string | undefined {
  if (port === undefined) return undefined;
  const service = `${operator}-${name}`;
  if (name === 'webhook') {
    return `the service name "webhook" cannot have a port, because ${service} is the Service of its webhooks; choose another name`;
  }
  if (service.length > MAX_SERVICE_NAME_CHARACTERS || !/^[a-z]/.test(service)) {
    return `the service "${name}" has a port, but ${service} cannot be the name of a Service: it must start with a letter and have at most ${MAX_SERVICE_NAME_CHARACTERS} characters`;
  }
  return typeof port === 'function' || isPort(port)
    ? undefined
    : `the service "${name}" has the port ${port}; ${PORTS}`;
}

/** withServicePort returns a service whose port is that for a parsed configuration. Throws BOWLINE_CONFIG_INVALID. */
export function withServicePort(operator: string, service: DeclaredService, config: never): DeclaredService {
  const { name, port } = service;
  if (typeof port !== 'function') return service;
  const configured = port(config) || undefined;
  if (configured !== undefined && !isPort(configured)) {
    throw new BowlineError(
      'BOWLINE_CONFIG_INVALID',
      `the configuration of the operator ${operator} is not valid: its service ${name} would listen on the port ${configured}; ${PORTS}`,
    );
  }
  return Object.freeze({ ...service, port: configured });
}

const PORTS = 'use a whole number from 1 to 65535';

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}
