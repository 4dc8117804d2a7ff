import { sameJson } from './same-json.ts';

/** Condition is what Pods' and Nodes' conditions have in common. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

/**
 * withConditions sets conditions in a list and leaves those of others as they are. The transition time moves only with the
 * status, and a condition that says the same as before is not touched.
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
    // What a condition of this kind has besides the common fields is in `each`, which is all of C but the time.
    const after = { ...each, lastTransitionTime } as unknown as C;
    if (before === undefined) result.push(after);
    else if (!sameJson(before, after)) result[at] = after;
  }
  return result;
}
