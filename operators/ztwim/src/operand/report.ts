import type { ReconcileResult } from '@bowline/runtime';
import type { StatusCollector } from '@bowline/runtime/controller';
import type { Hold } from '../resolve/hold.ts';
import { type OperandCondition, readyFrom } from './condition.ts';

/** ReportTarget is the part of a run's context that reports. */
export interface ReportTarget {
  readonly object: {
    readonly status?: { readonly conditions?: readonly { readonly type: string }[] | undefined } | undefined;
  };
  readonly status: Pick<StatusCollector<never>, 'condition' | 'removeCondition'>;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** The conditions that the runtime maintains. */
const OF_RUNTIME: ReadonlySet<string> = new Set(['Reconciling', 'Stalled']);

/** report sets the conditions of an operand and Ready. A condition that no longer applies is removed. */
export function report({ object, status }: ReportTarget, conditions: readonly OperandCondition[]): void {
  const all = [...conditions, readyFrom(conditions)];
  const types = new Set(all.map(({ type }) => type));
  for (const { type } of object.status?.conditions ?? []) {
    if (!types.has(type) && !OF_RUNTIME.has(type)) status.removeCondition(type);
  }
  for (const { type, status: value, reason, message } of all) status.condition(type, value, reason, message);
}

/** reportHold reports that an operand does not act. What it reported about its objects still applies. */
export function reportHold({ status, event }: ReportTarget, { reason, message }: Hold): void {
  status.condition('ConfigSource', false, reason, message);
  status.condition('Ready', false, reason, message);
  if (reason === 'Conflict') event('Warning', 'ConfigConflict', message);
  if (reason === 'ParentMissing') event('Warning', 'ParentMissing', message);
}

/** reportTurn reports that an operand waits for its turn in a change of the trust domain. */
export function reportTurn(
  { status }: ReportTarget,
  { message, requeueAfterMs }: { readonly message: string; readonly requeueAfterMs: number },
): ReconcileResult {
  status.condition('Ready', false, 'Progressing', message);
  return { requeueAfterMs };
}
