import { isObject, isSameJson, type JsonObject, member, setMember } from '../json/json.ts';

/**
 * applyMergePatch returns the document that results from a JSON merge patch (RFC 7386): objects are merged, null
 * removes a member, everything else replaces. The input is not changed; parts that the patch does not touch are shared
 * with it.
 *
 * @example
 * applyMergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } }); // { b: { c: 2, d: 3 } }
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const before: JsonObject = isObject(document) ? document : {};
  let after: { [key: string]: unknown } | undefined;
  for (const [key, change] of Object.entries(patch)) {
    if (change === undefined) continue;
    const current = member(before, key);
    const next = change === null ? undefined : applyMergePatch(current, change);
    if (next === current) continue;
    after ??= { ...before };
    setMember(after, key, next);
  }
  return after ?? before;
}

/**
 * diffMergePatch returns the smallest merge patch that turns `from` into `to`; undefined if both are the same JSON, so
 * that the caller can skip the request. Lists are replaced as a whole.
 *
 * A merge patch cannot set a member to null: a null in `to` means "absent" here, as it does for the API server.
 */
export function diffMergePatch(from: unknown, to: unknown): unknown {
  if (!isObject(from) || !isObject(to)) return isSameJson(from, to) ? undefined : to;
  const patch: { [key: string]: unknown } = {};
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  for (const key of keys) {
    const before = member(from, key);
    const after = member(to, key) ?? undefined;
    let change: unknown;
    if (after === undefined) change = before === undefined ? undefined : null;
    else if (before === undefined) change = applyMergePatch(undefined, after);
    else change = diffMergePatch(before, after);
    if (change !== undefined) setMember(patch, key, change);
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}
