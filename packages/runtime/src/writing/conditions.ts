import type { Condition } from '@bowline/kubernetes/meta-v1';
import { formatTime } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';

/** ConditionStatus is the status of a condition; a boolean stands for True or False. */
export type ConditionStatus = boolean | 'True' | 'False' | 'Unknown';

/**
 * ConditionUpdate is the state of one condition that a reconcile reports; `undefined` as status removes the condition.
 */
export interface ConditionUpdate {
  readonly type: string;
  readonly status: ConditionStatus | undefined;
  readonly reason: string;
  readonly message: string;
}

/** The API's own limits for conditions. */
const MAX_MESSAGE_LENGTH = 32_768;
const MAX_REASON_LENGTH = 1024;

/**
 * mergeConditions returns the conditions after some updates: merged by type, others unchanged and in place, new ones at
 * the end. `lastTransitionTime` changes only with the status. Returns the same list when nothing changes.
 */
export function mergeConditions(
  previous: readonly Condition[],
  updates: readonly ConditionUpdate[],
  at: { readonly now: number; readonly generation?: number | undefined },
): readonly Condition[] {
  const next = [...previous];
  let isChanged = false;
  for (const update of updates) {
    const index = next.findIndex(({ type }) => type === update.type);
    const before = next[index];
    if (update.status === undefined) {
      if (before) next.splice(index, 1);
      isChanged ||= before !== undefined;
      continue;
    }
    const after = conditionOf(update, update.status, before, at);
    if (before && isSame(before, after)) continue;
    isChanged = true;
    if (before) next[index] = after;
    else next.push(after);
  }
  return isChanged ? next : previous;
}

function conditionOf(
  update: ConditionUpdate,
  given: ConditionStatus,
  before: Condition | undefined,
  { now, generation }: { readonly now: number; readonly generation?: number | undefined },
): Condition {
  const { type, reason, message } = update;
  assertReason(type, reason);
  const status = typeof given === 'boolean' ? (given ? 'True' : 'False') : given;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
  return {
    type,
    status,
    reason,
    message: message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message,
    lastTransitionTime,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** The API server rejects such a condition with an unhelpful message. */
function assertReason(type: string, reason: string): void {
  if (reason.length <= MAX_REASON_LENGTH && /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) return;
  throw new BowlineError(
    'BOWLINE_CONDITION_INVALID',
    `cannot set the reason of the condition ${type} to ${JSON.stringify(reason.slice(0, 100))}: use one CamelCase word`,
  );
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  );
}

/** findCondition returns an object's condition of a type. */
export function findCondition(
  object: { readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
