// The entry of `@bowline/runtime/manager`: the manager, leader election, logs and metrics, for programs that run
// operators their own way.
export { LeaderElector, type LeaderElectorOptions } from '../leader-election/leader-elector.ts';
export type { LagSource, Leadership } from '../leader-election/leadership.ts';
export type { LeaseClient } from '../leader-election/lease-client.ts';
export type { LeaseTiming } from '../leader-election/lease-timing.ts';
export { type ControllerStatus, Manager, type OperatorStatus, type ServiceStatus } from '../manager/manager.ts';
export type { LeaderElectionOptions, ManagerOptions, WebhookServing } from '../manager/manager-options.ts';
export type { OperatorState } from '../manager/operator-runner.ts';
export type { RunOperatorsOptions } from '../manager/run-operators.ts';
export type { RunUntilSignalOptions } from '../manager/run-until-signal.ts';
export type { ServiceState } from '../manager/service-runner.ts';
export { type CreateLogOptions, createLog, LOG_LEVELS, type LogLevel } from '../observability/create-log.ts';
export { type CreateMetricsOptions, createMetrics, type MetricsRegistry } from '../observability/create-metrics.ts';
export { type Fields, silentLog } from '../observability/log.ts';
export type { Labels, MetricOptions } from '../observability/metrics.ts';
export type { HealthCheck, HealthReport } from '../operations/health.ts';
export {
  type MetricsSecurity,
  type OperationsServer,
  type OperationsServerOptions,
  startOperationsServer,
} from '../operations/operations-server.ts';
export { preferSmallHeap } from '../operations/small-heap.ts';
export type {
  ArgumentValues,
  Command,
  CommandArgument,
  CommandArguments,
  CommandCluster,
  CommandContext,
  CommandDefinition,
  CommandNamespace,
  CommandResult,
} from '../operator/command.ts';
export { type CommandFlag, type CommandFlags, flagName, inputFlagName } from '../operator/command-flags.ts';
export type {
  CommandInput,
  CommandInputs,
  CommandManifest,
  CommandTerminal,
  InputValues,
  KeyedContent,
} from '../operator/command-input.ts';
export type { CommandColumn, CommandOutput } from '../operator/command-output.ts';
export type {
  DisplayedResource,
  DisplayState,
  LeftOut,
  LocalAccount,
  LocalContext,
  LocalDisplay,
  LocalTrial,
  LocalUse,
} from '../operator/local-use.ts';
export type { OperatorOptions, Setup } from '../operator/operator.ts';
export type { ScratchFolder } from '../operator/scratch-folder.ts';
export type {
  DeclaredService,
  Service,
  ServiceContext,
  ServiceInformer,
  ServiceInformerOptions,
  ServiceReadiness,
  ServiceView,
} from '../operator/service.ts';
export { withLocalTrial } from '../operator/with-local-trial.ts';
