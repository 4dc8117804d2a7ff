export { Cache, type CacheOptions, type InformerOptions } from './cache/cache.ts';
export type { InformerHealth, InformerState, ReconnectReason } from './cache/health.ts';
export type { Informer, InformerEvent, InformerHandler, ReadOptions } from './cache/informer.ts';
export { Reflector, type ReflectorOptions } from './cache/reflector.ts';
export type { ReflectorStatus } from './cache/reflector-status.ts';
export type { ReflectorTarget, Snapshot } from './cache/reflector-target.ts';
export type { Scope, ScopeOptions } from './cache/scope.ts';
export { type IndexFunction, Store } from './cache/store.ts';
export {
  type MetadataObject,
  type MetadataProjectView,
  type ProjectView,
  project,
  projectMetadata,
  type TriggerObject,
  type TriggerReads,
  type TriggerView,
  trigger,
  type View,
  type ViewOf,
} from './cache/view.ts';
export type * from './client/client.ts';
export { type ClientOptions, createClient } from './client/create-client.ts';
export { type PodLogOptions, podLog } from './client/pod-log.ts';
export { type Content, type ContentEntry, losesContent } from './content/content.ts';
export { contentMembers } from './content/content-bodies.ts';
export type { ContentView } from './content/content-view.ts';
export {
  type ContentStop,
  type ContentTools,
  type Ensured,
  type EnsureOptions,
  ensureContent,
  type Seen,
} from './content/ensure-content.ts';
export {
  type ContentAnnotations,
  type ContentFormat,
  type ContentMarks,
  type DesiredContent,
  type ManagedContent,
  type MarkFormat,
  managedContent,
  type WantedContent,
} from './content/managed-content.ts';
export {
  type Claim,
  type ContentPlan,
  type ContentPolicy,
  planContent,
  type StopReason,
} from './content/plan-content.ts';
export {
  isDeletedOnRelease,
  type ReleaseContentOptions,
  type ReleasedContent,
  releaseContent,
} from './content/release-content.ts';
export { replaceContent } from './content/replace-content.ts';
export { saveContent } from './content/save-content.ts';
export { controller, keyed } from './controller/builder.ts';
export type * from './controller/builder-steps.ts';
export type * from './controller/context.ts';
export type { Controller, ReportDeclaration, WorkOptions, WriteDeclaration } from './controller/controller.ts';
export type { ControllerState } from './controller/controller-runner.ts';
export type { LiveClient } from './controller/live-client.ts';
export * from './controller/predicates.ts';
export { SlowError, slow, TerminalError, terminal } from './controller/reconcile-error.ts';
export type {
  CacheReads,
  MapOptions,
  SecondaryOptions,
  SourceListOptions,
  SourceOf,
  SourceOptions,
} from './controller/sources.ts';
export { type StatusCollector, StatusDraft, type StatusLike } from './controller/status-collector.ts';
export { type ReconcileOutcome, summarize } from './controller/summary.ts';
export type { TriggerDeclaration, TriggerKeys } from './controller/trigger-stream.ts';
export type {
  ContextWrites,
  EventAboutFor,
  NoWrites,
  Reporting,
  WriteKindOptions,
  WriteTypes,
} from './controller/write-types.ts';
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
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from './errors/api-error.ts';
export { BowlineError, type BowlineErrorOptions } from './errors/bowline-error.ts';
export {
  fieldManagerOf,
  MANAGED_BY,
  type OperatorId,
  type OperatorIdentity,
  operatorIdentity,
} from './identity/operator-identity.ts';
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
export { type ControllerStatus, Manager, type OperatorStatus } from './manager/manager.ts';
export type { LeaderElectionOptions, ManagerOptions, WebhookServing } from './manager/manager-options.ts';
export type { OperatorState } from './manager/operator-runner.ts';
export { type RunOperatorsOptions, runOperators } from './manager/run-operators.ts';
export { type RunUntilSignalOptions, runUntilSignal } from './manager/run-until-signal.ts';
export { type CreateLogOptions, createLog, LOG_LEVELS, type LogLevel } from './observability/create-log.ts';
export { type CreateMetricsOptions, createMetrics, type MetricsRegistry } from './observability/create-metrics.ts';
export { EventLoopMonitor, type EventLoopMonitorOptions } from './observability/event-loop-monitor.ts';
export { type Fields, type Log, silentLog } from './observability/log.ts';
export * from './observability/metrics.ts';
export { type HealthCheck, type HealthReport, isHealthy } from './operations/health.ts';
export {
  type MetricsSecurity,
  type OperationsServer,
  type OperationsServerOptions,
  startOperationsServer,
} from './operations/operations-server.ts';
export { preferSmallHeap } from './operations/small-heap.ts';
export {
  type ArgumentValues,
  type Command,
  type CommandArgument,
  type CommandArguments,
  type CommandCluster,
  type CommandContext,
  command,
  type Sample,
} from './operator/command.ts';
export { type LocalUse, type Shown, type ShownState, show } from './operator/local-use.ts';
export {
  defineOperator,
  type Operator,
  type OperatorOptions,
  type Service,
  type Setup,
  type SetupContext,
} from './operator/operator.ts';
export type { ConfigParser, ConfigSchema, OperatorConfig } from './operator/operator-config.ts';
export { withConfig } from './operator/with-config.ts';
export { withinNamespaces } from './operator/within-namespaces.ts';
export { declaredPermissions, permissionsOf, type WebhookMode } from './permissions/declared-permissions.ts';
export { type AllowOptions, allow, OWN_NAMESPACE, type Permission, type Verb } from './permissions/permission.ts';
export { type RbacManifest, type RbacOptions, rbacManifests } from './permissions/rbac-manifests.ts';
export { type RestrictedOptions, restricted } from './permissions/restricted-client.ts';
export type { PermissionRules } from './permissions/rules.ts';
export { type BackoffOptions, type BackoffRange, backoffMs, DEFAULT_BACKOFF } from './queue/backoff.ts';
export { type Cause, describeCause, type ObjectCause } from './queue/cause.ts';
export { Queue } from './queue/queue.ts';
export {
  type AddOptions,
  LOW_PRIORITY,
  type QueueEntry,
  type QueueItem,
  type QueueOptions,
  type RetryOptions,
} from './queue/queue-options.ts';
export {
  type CustomResource,
  customResourceDefinition,
  isCustomResource,
  type KindStatus,
  type ReadObject,
  type StatusOf,
  type WrittenObject,
  type WrittenOf,
} from './resource/custom-resource.ts';
export {
  type InstalledDefinition,
  type InstallOptions,
  installCustomResourceDefinitions,
} from './resource/install-crds.ts';
export { connect, type TransportOptions } from './transport/connect.ts';
export type * from './transport/connection-config.ts';
export { impersonationHeaders } from './transport/impersonation.ts';
export type * from './transport/transport.ts';
export { TransportError, type TransportErrorCode } from './transport/transport-error.ts';
export type * from './webhook/admission-request.ts';
export type { GroupVersionKind, GroupVersionResource, Operation } from './webhook/admission-review.ts';
export {
  type Admitted,
  type AdmittedChanged,
  type AdmittedPatched,
  type AnswerOptions,
  admit,
  admitChanged,
  admitPatched,
  type Denied,
  type DenyOptions,
  deny,
  type MutatingAnswer,
  type ValidatingAnswer,
} from './webhook/answer.ts';
export {
  type ConfigurationOptions,
  checkWebhooks,
  type ServiceAddress,
  type WebhookAddress,
  type WebhookConfigurations,
  webhookConfigurations,
} from './webhook/configurations.ts';
export { mutating, validating, type WebhookStart, type WebhookStep } from './webhook/declare.ts';
export { OWN_WEBHOOKS } from './webhook/own-webhooks.ts';
export { startWebhooks } from './webhook/start-webhooks.ts';
export {
  type MutatingOptions,
  type Webhook,
  type WebhookOptions,
  webhookFullName,
  webhookPath,
} from './webhook/webhook.ts';
export { type WebhookRules, type WebhookRulesOptions, webhookRules } from './webhook/webhook-rules.ts';
export { WebhookServers, type WebhookServersOptions } from './webhook/webhook-servers.ts';
export type * from './webhook/webhooks-options.ts';
export { appliedView } from './writing/applied-view.ts';
export { type BackupOptions, type BackupTools, saveBackup } from './writing/backup.ts';
export {
  type CleanupOptions,
  type CleanupProgress,
  type CleanupTier,
  cleanUpTiers,
  type Leftover,
  type Waiting,
} from './writing/cleanup-tiers.ts';
export { type ConditionStatus, type ConditionUpdate, findCondition, mergeConditions } from './writing/conditions.ts';
export { type Deletion, type DeletionMode, deletionOf } from './writing/deletion.ts';
export type { EventMessage, EventReport, EventSubject } from './writing/event.ts';
export { EventRecorder, type EventRecorderOptions } from './writing/event-recorder.ts';
export { addFinalizer, type FinalizerOptions, hasFinalizer, removeFinalizer } from './writing/finalizers.ts';
export type { Written } from './writing/guarded-apply.ts';
export type { WriteCheck } from './writing/guarded-create.ts';
export type { Removed } from './writing/guarded-delete.ts';
export { informerLookup } from './writing/informer-lookup.ts';
export {
  assertCanOwn,
  canOwn,
  type Owner,
  type OwnerReferenceOptions,
  type OwnerRelation,
  ownerReference,
  ownerReferencesWith,
  relationTo,
} from './writing/owner-reference.ts';
export { type OwnerWriteOptions, setOwner } from './writing/owner-writes.ts';
export type { Marks, OwnershipGuard } from './writing/ownership.ts';
export { type ReleaseOptions, release } from './writing/release.ts';
export { SettledWrites, type SettledWritesOptions } from './writing/settled-writes.ts';
export type { CachedObject, Lookup, WriteClient, WriteTools } from './writing/write-client.ts';
export { type StatusWriteOptions, writeStatus } from './writing/write-status.ts';
export {
  type ApplyOptions,
  createWriter,
  type RemoveOptions,
  type Writer,
  type WriterOptions,
} from './writing/writer.ts';
