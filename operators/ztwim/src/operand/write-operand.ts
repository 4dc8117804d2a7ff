import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Deps } from '../deps.ts';
import type { Child } from '../objects/child.ts';
import type { OperandCleanup } from './clean-up.ts';
import type { OperandCondition } from './condition.ts';
import { type PruneOptions, type PruneRun, prune } from './prune.ts';
import { type ReportTarget, reportInvalid, reportOperand } from './report.ts';
import { type Workload, workloadCondition } from './workload-health.ts';
import { type ChildWriter, writeChildren } from './write-children.ts';

/** OperandRun is the part of a run's context that writes an operand. Its kinds are known only when it runs. */
export interface OperandRun extends Omit<ReportTarget, 'deps' | 'object'> {
  readonly deps: Deps;
  readonly object: ReportTarget['object'] & KubernetesObject;
  readonly key: ObjectKey;
  readonly apply: unknown;
  readonly createOnce: unknown;
  readonly remove: unknown;
  readonly get: unknown;
  readonly list: unknown;
  readonly isServed: unknown;
  readonly enqueue: unknown;
}

/** OperandWrite is what is written and reported for an operand. */
export interface OperandWrite {
  readonly parent: ZeroTrustWorkloadIdentityManager;
  /** The rendered objects, the workload last. */
  readonly children: readonly Child[];
  /** The kinds of the operand's objects: those that are no longer rendered are removed. */
  readonly cleanup: Pick<OperandCleanup, 'kind' | 'tiers'>;
  /** The conditions that do not depend on written objects, in the order in which they decide about Ready. */
  readonly conditions: readonly OperandCondition[];
  /** Whether the configuration is valid. The refusal of the pods replaces it. */
  readonly valid: OperandCondition;
  /** alongside writes what is not rendered, with the other objects, and returns conditions. Defaults to none. */
  readonly alongside?: (() => Promise<readonly OperandCondition[]>) | undefined;
  /** decide returns what happens to an object that is not rendered. Defaults to removing it. */
  readonly decide?: PruneOptions['decide'];
}

/** OperandOutcome is how the writes of an operand ended. */
export type OperandOutcome =
  | { readonly type: 'written'; readonly requeueAfterMs?: number | undefined }
  /** The API server refused the pods, so nothing was written. */
  | { readonly type: 'refused' }
  /** The workload was changed a moment ago, so nothing was written. */
  | { readonly type: 'waiting'; readonly requeueAfterMs: number };

/** How soon objects that could not be removed yet are checked again. */
const PRUNE_RETRY_MS = 300_000;

/**
 * writeOperand writes the objects of an operand, the workload last, removes those that are no longer rendered, and reports
 * about them.
 */
export async function writeOperand(context: OperandRun, write: OperandWrite): Promise<OperandOutcome> {
  const { deps } = context;
  const { children, cleanup, conditions, valid, alongside } = write;
  const { kind } = cleanup;
  // A kind that the controller does not declare is still rejected, by its permissions.
  const writer = context as unknown as ChildWriter;
  const { createOnly } = deps.config;
  const rolledOut = () => deps.metrics.rolledOut(kind);
  const written = await writeChildren(writer, children, { rollouts: deps.rollouts, createOnly, rolledOut, alongside });
  if (written.waitMs !== undefined) return { type: 'waiting', requeueAfterMs: written.waitMs };
  if (written.isRefused) {
    reportInvalid(context, kind, [...conditions, ...written.conditions]);
    return { type: 'refused' };
  }
  const health = healthOf(writer, children);
  // A workload that could not be written keeps its reason.
  const about = written.conditions.map((each) => (each.type === health?.type && each.status ? health : each));
  const result = firstFalse([...conditions, valid, ...about]);
  reportOperand(context, kind, result);
  deps.metrics.configSynced(kind, write.parent);
  const isComplete = createOnly || (await pruneOperand(context, write, result, health?.status ?? false));
  return { type: 'written', requeueAfterMs: isComplete ? undefined : PRUNE_RETRY_MS };
}

/** Nothing is removed while an object that may replace it could not be written. */
async function pruneOperand(
  context: OperandRun,
  { children, cleanup, decide }: OperandWrite,
  conditions: readonly OperandCondition[],
  isRolledOut: boolean,
): Promise<boolean> {
  if (conditions.some(({ reason }) => reason === 'ResourceConflict' || reason === 'Failed')) return true;
  const kinds: readonly Resource<KubernetesObject>[] = cleanup.tiers.flatMap((tier) => tier.kinds);
  return prune(context as unknown as PruneRun, children, { kinds, isRolledOut, decide });
}

/** If several conditions have the same type, the first that is False decides. */
function firstFalse(conditions: readonly OperandCondition[]): readonly OperandCondition[] {
  const byType = new Map<string, OperandCondition>();
  for (const condition of conditions) {
    const known = byType.get(condition.type);
    if (!known || (known.status && !condition.status)) byType.set(condition.type, condition);
  }
  return [...byType.values()];
}

function healthOf(writer: ChildWriter, children: readonly Child[]): OperandCondition | undefined {
  const workload = children.at(-1);
  if (!workload) return undefined;
  const { resource, object } = workload;
  const stored = writer.get(resource, keyOf(object));
  // The last object of every operand is its workload.
  return workloadCondition({ kind: resource.kind, object: stored } as Workload);
}
