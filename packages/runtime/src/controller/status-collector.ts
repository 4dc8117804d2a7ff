import type { Condition } from '@bowline/kubernetes/meta-v1';
import { type ConditionStatus, type ConditionUpdate, mergeConditions } from '../writing/conditions.ts';
import { type ReconcileOutcome, summarize } from './summary.ts';

/** StatusLike is the part of a status that the runtime maintains. */
export interface StatusLike {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * StatusCollector collects the status that a reconcile reports for its object; it is written once, at the end, if it
 * differs.
 */
export interface StatusCollector<Status> {
  /** condition sets a condition; the last call for a type wins. */
  condition(type: string, status: ConditionStatus, reason: string, message: string): void;
  /** removeCondition removes a condition that no longer applies. */
  removeCondition(type: string): void;
  /** set sets fields of the status; `undefined` removes a field. Lists and maps are replaced as a whole. */
  set(fields: { readonly [K in keyof Status]?: Status[K] | undefined }): void;
}

/** StatusDraft holds the collected status. */
export class StatusDraft<Status extends object> implements StatusCollector<Status> {
  readonly #updates: ConditionUpdate[] = [];
  #fields: { readonly [name: string]: unknown } = {};

  condition(type: string, status: ConditionStatus, reason: string, message: string): void {
    this.#updates.push({ type, status, reason, message });
  }

  removeCondition(type: string): void {
    this.#updates.push({ type, status: undefined, reason: '', message: '' });
  }

  set(fields: { readonly [K in keyof Status]?: Status[K] | undefined }): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** isEmpty reports whether nothing was collected. */
  get isEmpty(): boolean {
    return this.#updates.length === 0 && Object.keys(this.#fields).length === 0;
  }

  /**
   * applyTo returns the status that results from the previously stored one. With an outcome, the standard conditions
   * are added. `generation` is that of the object that was reconciled, which may be older than the stored one.
   */
  applyTo(
    previous: Status | undefined,
    at: {
      readonly now: number;
      readonly generation: number | undefined;
      readonly outcome?: ReconcileOutcome | undefined;
    },
  ): Status {
    const stored: StatusLike & { readonly [name: string]: unknown } = { ...previous };
    // A slow reconcile must not revert what a later one has reported for a newer generation.
    const seen = Math.max(at.generation ?? 0, stored.observedGeneration ?? 0);
    const summary = at.outcome ? summarize(this.#updates, at.outcome) : [];
    const conditions = mergeConditions(stored.conditions ?? [], lastOfEach([...this.#updates, ...summary]), at);
    const status: { [name: string]: unknown } = { ...stored, ...this.#fields };
    if (conditions.length > 0 || stored.conditions) status.conditions = conditions;
    if (seen > 0) status.observedGeneration = seen;
    // Fields that were set have the declared type; the rest is as stored.
    return status as Status;
  }
}

/** A condition that is set twice changes once, or its transition time would change although nothing happened. */
function lastOfEach(updates: readonly ConditionUpdate[]): readonly ConditionUpdate[] {
  return [...new Map(updates.map((update) => [update.type, update])).values()];
}
