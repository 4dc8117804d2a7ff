import { sameJson } from './same-json.ts';

/** Condition holds the common fields of Pod and Node conditions. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

/**
 * withConditions sets conditions in a list and keeps those set by others. The transition time changes only with the status, and
 * an unchanged condition is not modified.
 */
export function withConditions<C extends Condition>(
  previous: readonly C[] | undefined,
  wanted: readonly Omit<C, 'lastTransitionTime'>[],
  now: string,
): readonly C[] {
  const result = [...(previous ?? [])];
  for (const each of wanted) {
    const at = result.findIndex(({ type }) => type === each.type);
    const before = result[at];
    const lastTransitionTime = before?.status === each.status ? before.lastTransitionTime : now;
    // The fields of this condition type besides the common ones are in `each`, which is all of C but the time.
    const after = { ...each, lastTransitionTime } as unknown as C;
    if (before === undefined) result.push(after);
    else if (!sameJson(before, after)) result[at] = after;
  }
  return result;
}
