import { keyOf } from '@bowline/kubernetes';
import type { Deps } from '../deps.ts';
import type { Child } from '../objects/child.ts';
import type { OperandCondition } from './condition.ts';
import { createOnlyMode } from './create-only-mode.ts';
import { type ReportTarget, report } from './report.ts';
import { type Workload, workloadCondition } from './workload-health.ts';
import { type ChildWriter, writeChildren } from './write-children.ts';

/** OperandRun is the part of a run's context that writes an operand. Its kinds are known only when it runs. */
export interface OperandRun extends ReportTarget {
  readonly deps: Deps;
  readonly apply: unknown;
  readonly createOnce: unknown;
  readonly get: unknown;
  readonly isServed: unknown;
}

/** OperandReport is what is reported besides the written objects. */
export interface OperandReport {
  /** The conditions that do not depend on written objects, in the order in which they decide about Ready. */
  readonly conditions: readonly OperandCondition[];
  /** Whether the configuration is valid. The refusal of the pods replaces it. */
  readonly valid: OperandCondition;
  /** more returns further conditions, and is called after the objects were written. Defaults to none. */
  readonly more?: (() => Promise<readonly OperandCondition[]>) | undefined;
}

/** OperandOutcome is how the writes of an operand ended. */
export type OperandOutcome =
  | { readonly type: 'written' }
  /** The API server refused the pods, so nothing was written. */
  | { readonly type: 'refused' }
  /** The workload was changed a moment ago, so nothing was written. */
  | { readonly type: 'waiting'; readonly requeueAfterMs: number };

/** writeOperand writes the objects of an operand, the workload last, and reports about them. */
export async function writeOperand(
  context: OperandRun,
  children: readonly Child[],
  { conditions, valid, more = async () => [] }: OperandReport,
): Promise<OperandOutcome> {
  const { deps } = context;
  // A kind that the controller does not declare is still rejected, by its permissions.
  const writer = context as OperandRun & ChildWriter;
  const { createOnly } = deps.config;
  const written = await writeChildren(writer, children, { rollouts: deps.rollouts, createOnly });
  if (written.waitMs !== undefined) return { type: 'waiting', requeueAfterMs: written.waitMs };
  const mode = createOnlyMode(context, deps.config);
  if (written.isRefused) {
    report(context, [...conditions, ...written.conditions, ...mode]);
    return { type: 'refused' };
  }
  const health = healthOf(writer, children);
  // A workload that could not be written keeps its reason.
  const about = written.conditions.map((each) => (each.type === health?.type && each.status ? health : each));
  report(context, [...conditions, valid, ...(await more()), ...about, ...mode]);
  return { type: 'written' };
}

function healthOf(writer: ChildWriter, children: readonly Child[]): OperandCondition | undefined {
  const workload = children.at(-1);
  if (!workload) return undefined;
  const { resource, object } = workload;
  const stored = writer.get(resource, keyOf(object));
  // The last object of every operand is its workload.
  return workloadCondition({ kind: resource.kind, object: stored } as Workload);
}
