import { isObject, type JsonObject, member } from '../json/json.ts';
import { goText, missingMergeKey, patchFailed, unexpectedType, unknownDirective } from './strategic-merge-error.ts';

/** MergeElement merges one element of a list with its change in the patch. */
export type MergeElement = (element: JsonObject, change: JsonObject) => JsonObject;

/** MergeElements merges two lists with `mergeList`. The first is undefined if the list does not exist yet. */
type MergeElements = (current: readonly unknown[] | undefined, change: readonly unknown[]) => readonly unknown[];

/**
 * mergeList merges two lists: maps by their merge key, scalars as sets. The elements of the patch come in the order of
 * the patch, the others keep their order. If a patch element and another element were both in the list before, they
 * keep their relative order.
 */
export function mergeList(
  current: readonly unknown[],
  change: readonly unknown[],
  mergeKey: string | undefined,
  name: string,
  mergeElement: MergeElement,
): readonly unknown[] {
  if (current.length === 0 && change.length === 0) return current;
  if (typeOfElements(current, change) !== 'map') {
    return arranged([...new Set([...current, ...change])], change, current, scalarKey);
  }
  if (mergeKey === undefined) throw patchFailed(`cannot merge lists without merge key for ${name}`);
  const { kept, rest, isReplaced } = separate(current, change, mergeKey);
  if (isReplaced) return rest;
  const merged = [...kept];
  const positionByKey = new Map(positions(kept, (element) => member(element as JsonObject, mergeKey)));
  for (const element of rest) {
    const key = mergeKeyValue(element, mergeKey);
    const position = positionByKey.get(key) ?? merged.length;
    const found = merged[position];
    merged[position] = found ? mergeElement(found, element) : element;
    positionByKey.set(key, position);
  }
  return arranged(merged, rest, kept, (element) => mergeKeyValue(element, mergeKey));
}

/** withoutElements returns a list of scalars without those that a patch deletes; undefined if the elements are maps. */
export function withoutElements(
  current: readonly unknown[],
  deleted: readonly unknown[],
): readonly unknown[] | undefined {
  if (current.length + deleted.length === 0) return current;
  if (typeOfElements(current, deleted) === 'map') return undefined;
  const deletedSet = new Set(deleted);
  return current.filter((element) => !deletedSet.has(element));
}

/**
 * orderList merges lists and sorts the elements in `order` into that order. It returns undefined if there is no list at
 * all.
 */
export function orderList(
  current: readonly unknown[] | undefined,
  change: readonly unknown[] | undefined,
  order: readonly unknown[],
  mergeKey: string | undefined,
  merge: MergeElements,
): readonly unknown[] | undefined {
  if (change && order.length > 0) checkOrder(change, order, mergeKey);
  const merged = change ? merge(current, change) : current;
  if (merged === undefined) return undefined;
  if (mergeKey === undefined) {
    if (merged.some(isObject)) throw patchFailed('cannot order a list of maps that has no merge key');
    return arranged(merged, order, current ?? [], scalarKey);
  }
  const wrong = order.findIndex((element) => !isObject(element));
  if (wrong >= 0) throw patchFailed(`value for key ${wrong} is not a map`);
  const before = previousOnServer(current ?? [], change ?? [], mergeKey);
  return arranged(merged, order, before, (element) => mergeKeyValue(element, mergeKey));
}

/**
 * previousOnServer returns the list that the API server uses as the previous list. The server deletes and adds in the same
 * memory, so new elements take the place of deleted ones. The effect is visible in the order if a patch deletes and
 * adds at once, as kubectl apply does.
 */
function previousOnServer(
  current: readonly unknown[],
  change: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const keyOf = (element: unknown): unknown => (isObject(element) ? member(element, mergeKey) : undefined);
  const hasDirective = (element: unknown): boolean => isObject(element) && Object.hasOwn(element, '$patch');
  const deleted = new Set(change.filter(hasDirective).map(keyOf));
  const memory = current.filter((element) => !deleted.has(keyOf(element)));
  const keys = new Set(memory.map(keyOf));
  for (const element of change) {
    if (memory.length === current.length) break;
    if (hasDirective(element) || keys.has(keyOf(element))) continue;
    keys.add(keyOf(element));
    memory.push(element);
  }
  return memory;
}

/**
 * separate removes the elements with `$patch` from a patch, and removes from the list the elements that they delete.
 */
function separate(current: readonly unknown[], change: readonly unknown[], mergeKey: string) {
  const rest: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let isReplaced = false;
  // The types have been checked before: all elements are maps.
  for (const element of change as readonly JsonObject[]) {
    if (!Object.hasOwn(element, '$patch')) rest.push(element);
    else if (element.$patch === 'replace') isReplaced = true;
    else if (element.$patch === 'delete') deleted.add(mergeKeyValue(element, mergeKey));
    else if (element.$patch === 'merge') throw patchFailed('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(element.$patch, element);
  }
  const kept = (current as readonly JsonObject[]).filter((element) => !deleted.has(member(element, mergeKey)));
  return { kept, rest, isReplaced };
}

/**
 * arranged sorts a merged list: the elements in `order` in that order, the others as in `before`, interleaved by their
 * positions in `before`.
 */
function arranged<T>(
  merged: readonly T[],
  order: readonly unknown[],
  before: readonly unknown[],
  keyOf: (element: unknown) => unknown,
): readonly T[] {
  const wanted = positions(order, keyOf);
  const had = positions(before, keyOf);
  const placed = merged.map((element) => {
    const key = keyOf(element);
    return { element, wanted: wanted.get(key), had: had.get(key) };
  });
  const ordered = placed.filter((each) => each.wanted !== undefined);
  const others = placed.filter((each) => each.wanted === undefined);
  ordered.sort((a, b) => (a.wanted ?? 0) - (b.wanted ?? 0));
  others.sort((a, b) => (a.had ?? 0) - (b.had ?? 0));
  const interleaved: T[] = [];
  let next = 0;
  for (const { element, had: position } of ordered) {
    for (let other = others[next]; other && isBefore(other.had, position); other = others[++next]) {
      interleaved.push(other.element);
    }
    interleaved.push(element);
  }
  return [...interleaved, ...others.slice(next).map(({ element }) => element)];
}

function isBefore(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

/** positions returns the index of each key; the first one if a key occurs more than once. */
function positions(list: readonly unknown[], keyOf: (element: unknown) => unknown): ReadonlyMap<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    const key = keyOf(element);
    if (!found.has(key)) found.set(key, index);
  }
  return found;
}

/**
 * checkOrder rejects a patch whose elements are not in the order of its `$setElementOrder`. Deleted elements may be in
 * any order.
 */
function checkOrder(change: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const keyOf = (element: unknown): unknown => (mergeKey === undefined ? element : mergeKeyValue(element, mergeKey));
  const hasDirective = (element: unknown): boolean =>
    mergeKey !== undefined && isObject(element) && Object.hasOwn(element, '$patch');
  const listed = change.filter((element) => !hasDirective(element) || (element as JsonObject).$patch !== 'delete');
  const keys = listed.map((element) => (hasDirective(element) ? undefined : keyOf(element)));
  let at = 0;
  for (const [index, key] of keys.entries()) {
    const hasAnyPosition = hasDirective(listed[index]);
    while (!hasAnyPosition && at < order.length && keyOf(order[at]) !== key) at++;
    if (at >= order.length) {
      throw patchFailed(
        `The order in patch list:\n${goText(change)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
      );
    }
    if (!hasAnyPosition) at++;
  }
}

/** mergeKeyValue returns the merge key of an element. */
function mergeKeyValue(element: unknown, mergeKey: string): unknown {
  if (!isObject(element)) throw unexpectedType('map', element);
  const key = member(element, mergeKey);
  if (key === undefined) throw missingMergeKey(element, mergeKey);
  if (typeof key === 'object' && key !== null)
    throw patchFailed(`the merge key ${mergeKey} of ${goText(element)} is not a scalar`);
  return key;
}

const scalarKey = (element: unknown): unknown => element;

/** typeOfElements returns the common type of the elements of both lists. */
function typeOfElements(current: readonly unknown[], change: readonly unknown[]): string {
  const types = new Set([...current, ...change].map(typeOf));
  const [type = 'null'] = types;
  if (types.size > 1 || type === 'null') {
    throw patchFailed(`list element types are not identical: ${goText([current, change])}`);
  }
  if (type === 'list') throw patchFailed('lists of lists are not supported');
  return type;
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
