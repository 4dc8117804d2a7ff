import { BowlineError } from '../errors/bowline-error.ts';
import type { ConditionUpdate } from '../writing/conditions.ts';
import { reasonForUsers, TerminalError } from './reconcile-error.ts';

/** ReconcileOutcome is the result of a reconcile, as far as the status is concerned. */
export type ReconcileOutcome =
  | { readonly type: 'done' }
  /** It waits for an event, or runs again later. */
  | { readonly type: 'waiting' }
  | { readonly type: 'failed'; readonly error: unknown };

/** The reasons for conditions that a reconcile does not set itself. */
const REASONS = { done: 'Reconciled', waiting: 'Progressing', failed: 'ReconcileFailed' } as const;

/**
 * summarize returns the three conditions that tools understand without knowing the kind (kstatus): `Ready` always;
 * `Reconciling` while work is in progress; `Stalled` when only a person can help. The last two are missing when they
 * are not true.
 *
 * A `Ready` condition that the reconcile itself set is kept, except that a failure changes a `Ready=True` of the same
 * run to False.
 */
export function summarize(reported: readonly ConditionUpdate[], outcome: ReconcileOutcome): readonly ConditionUpdate[] {
  const ready = readyFrom(
    reported.findLast(({ type }) => type === 'Ready'),
    outcome,
  );
  const isReady = ready.status === 'True' || ready.status === true;
  const isStalled = outcome.type === 'failed' && outcome.error instanceof TerminalError;
  const isWorking = !isStalled && (outcome.type !== 'done' || !isReady);
  const { reason, message } = outcome.type === 'failed' ? failureOf(outcome.error) : ready;
  const of = (type: string, isTrue: boolean): ConditionUpdate => ({
    type,
    status: isTrue ? true : undefined,
    reason,
    message,
  });
  // A reconcile may know better than its result, for example that a rollout continues while the old one still serves.
  const findReported = (type: string): ConditionUpdate | undefined =>
    reported.findLast((update) => update.type === type);
  return [
    ready,
    findReported('Reconciling') ?? of('Reconciling', isWorking),
    (isStalled ? undefined : findReported('Stalled')) ?? of('Stalled', isStalled),
  ];
}

function readyFrom(reported: ConditionUpdate | undefined, outcome: ReconcileOutcome): ConditionUpdate {
  if (outcome.type === 'failed') {
    if (reported?.status !== undefined && reported.status !== true && reported.status !== 'True') return reported;
    return { type: 'Ready', status: false, ...failureOf(outcome.error) };
  }
  if (reported?.status !== undefined) return reported;
  const isDone = outcome.type === 'done';
  const message = isDone ? 'reconciled successfully' : 'still in progress';
  return { type: 'Ready', status: isDone, reason: REASONS[outcome.type], message };
}

/** Our own errors are written for people and contain no secrets; other errors are not shown. */
function failureOf(error: unknown): { reason: string; message: string } {
  const message = error instanceof BowlineError ? error.message : "unexpected error; see the operator's log";
  return { reason: reasonForUsers(error) ?? REASONS.failed, message };
}
