import { isObject } from '../json/json.ts';
import { stepsFor } from './frame.ts';
import { CelFailure } from './values.ts';

/** Deeper data, which is not written by hand, would overflow the stack of recursive functions. */
export const MAX_DATA_DEPTH = 1_000;

const known = new WeakMap<object, number>();

/**
 * measureJson returns the cost of reading a whole JSON value, in steps. It is computed once per value, without
 * recursion.
 */
export function measureJson(json: unknown): number {
  if (typeof json === 'string') return stepsFor(json);
  if (typeof json !== 'object' || json === null) return 1;
  const counted = known.get(json);
  if (counted !== undefined) return counted;
  let steps = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: json, depth: 0 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    steps += typeof value === 'string' ? 1 + stepsFor(value) : 1;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DATA_DEPTH) throw new CelFailure(`the data is nested deeper than ${MAX_DATA_DEPTH} levels`);
    const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    for (const member of members) left.push({ value: member, depth: depth + 1 });
  }
  known.set(json, steps);
  return steps;
}
