// What the author of an operator needs: controllers, webhooks, permissions, and functions to run them.
export { project, projectMetadata, trigger } from './cache/view.ts';
export { managedContent } from './content/managed-content.ts';
export { controller, keyed } from './controller/builder.ts';
export type { CleanupContext, KeyedContext, ReconcileContext, ReconcileResult } from './controller/context.ts';
export {
  allOf,
  annotationsChanged,
  anyOf,
  changed,
  generationChanged,
  labelsChanged,
  matching,
  not,
  ownerReferencesChanged,
  statusChanged,
} from './controller/predicates.ts';
export { slow, terminal } from './controller/reconcile-error.ts';
export { BowlineError } from './errors/bowline-error.ts';
export { runOperators } from './manager/run-operators.ts';
export { runUntilSignal } from './manager/run-until-signal.ts';
export type { Log } from './observability/log.ts';
export type { Counter, Gauge, Histogram, Metrics } from './observability/metrics.ts';
export { command, type Sample } from './operator/command.ts';
export { type Companion, type CompanionContext, companion } from './operator/companion.ts';
export { type InstallNamespace, installNamespace } from './operator/install-namespace.ts';
export { show } from './operator/local-use.ts';
export { defineOperator, type Operator, type SetupContext } from './operator/operator.ts';
export { allow, OWN_NAMESPACE, type Permission } from './permissions/permission.ts';
export { admit, admitChanged, admitPatched, deny } from './webhook/admission-response.ts';
export { mutating, validating } from './webhook/declare.ts';
export { findCondition } from './writing/conditions.ts';
