export { Cache, type CacheOptions, type InformerOptions } from './cache/cache.ts';
export type { InformerHealth, InformerState, ReconnectReason } from './cache/health.ts';
export type { Informer, InformerEvent, InformerHandler, ReadOptions } from './cache/informer.ts';
export { Reflector, type ReflectorOptions } from './cache/reflector.ts';
export type { ReflectorStatus } from './cache/reflector-status.ts';
export type { ReflectorTarget, Snapshot } from './cache/reflector-target.ts';
export type { ScopeOptions } from './cache/scope.ts';
export { type IndexFunction, Store } from './cache/store.ts';
export {
  type MetadataObject,
  type ProjectView,
  project,
  type TriggerObject,
  type TriggerView,
  trigger,
  type View,
  type ViewOf,
} from './cache/view.ts';
export type * from './client/client.ts';
export { type ClientOptions, createClient } from './client/create-client.ts';
export {
  ApiError,
  type ApiErrorInit,
  type ApiRequest,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isKindNotServed,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from './errors/api-error.ts';
export { BowlineError, type BowlineErrorOptions } from './errors/bowline-error.ts';
export { certificateCredentials, tokenCredentials } from './kubeconfig/credentials.ts';
export { type InClusterOptions, inClusterConfig, isInCluster } from './kubeconfig/in-cluster.ts';
export { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig/kubeconfig.ts';
export {
  type ConnectionOptions,
  connectionFrom,
  defaultKubeconfigPaths,
  type LoadKubeconfigOptions,
  loadKubeconfig,
} from './kubeconfig/load-kubeconfig.ts';
export { LeaderElector, type LeaderElectorOptions } from './leader-election/leader-elector.ts';
export type * from './leader-election/leadership.ts';
export type { LeaseClient } from './leader-election/lease-client.ts';
export type { LeaseTiming } from './leader-election/lease-timing.ts';
export { type CreateLogOptions, createLog, LOG_LEVELS, type LogLevel } from './observability/create-log.ts';
export { type CreateMetricsOptions, createMetrics, type MetricsRegistry } from './observability/create-metrics.ts';
export { EventLoopMonitor, type EventLoopMonitorOptions } from './observability/event-loop-monitor.ts';
export { type Fields, type Log, silentLog } from './observability/log.ts';
export * from './observability/metrics.ts';
export { type HealthCheck, type HealthReport, isHealthy } from './operations/health.ts';
export {
  type OperationsServer,
  type OperationsServerOptions,
  startOperationsServer,
} from './operations/operations-server.ts';
export { connect, type TransportOptions } from './transport/connect.ts';
export type * from './transport/connection-config.ts';
export type * from './transport/transport.ts';
export { TransportError, type TransportErrorCode } from './transport/transport-error.ts';
