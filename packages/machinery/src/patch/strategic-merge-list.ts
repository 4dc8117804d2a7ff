import { isObject, type JsonObject, member } from '../json/json.ts';
import { goText, otherType, unfit, unknownDirective, withoutKey } from './strategic-merge-error.ts';

/** MergeElement merges one element of a list with what the patch says of it. */
export type MergeElement = (element: JsonObject, change: JsonObject) => JsonObject;

/** MergeElements is the list that `mergeList` gives for two. The first is undefined where there is no list yet. */
type MergeElements = (current: readonly unknown[] | undefined, change: readonly unknown[]) => readonly unknown[];

/**
 * mergeList merges two lists, of maps by the member that tells them apart, of scalars as sets. The patch's elements come in
 * the patch's order, the others keep theirs; where the list had two in an order already and one of them is not the patch's,
 * that one comes first which came first.
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
  if (mergeKey === undefined) throw unfit(`cannot merge lists without merge key for ${name}`);
  const { kept, rest, isReplaced } = separate(current, change, mergeKey);
  if (isReplaced) return rest;
  const merged = [...kept];
  const places = new Map(positions(kept, (element) => member(element as JsonObject, mergeKey)));
  for (const element of rest) {
    const key = keyIn(element, mergeKey);
    const place = places.get(key) ?? merged.length;
    const found = merged[place];
    merged[place] = found ? mergeElement(found, element) : element;
    places.set(key, place);
  }
  return arranged(merged, rest, kept, (element) => keyIn(element, mergeKey));
}

/** withoutElements is a list of scalars without those that a patch deletes; undefined where the lists are of maps. */
export function withoutElements(
  current: readonly unknown[],
  deleted: readonly unknown[],
): readonly unknown[] | undefined {
  if (current.length + deleted.length === 0) return current;
  if (typeOfElements(current, deleted) === 'map') return undefined;
  const gone = new Set(deleted);
  return current.filter((element) => !gone.has(element));
}

/** orderList merges lists and puts the elements that `order` names into that order. Undefined where there is no list at all. */
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
    if (merged.some(isObject)) throw unfit('cannot order a list of maps that has no merge key');
    return arranged(merged, order, current ?? [], scalarKey);
  }
  const wrong = order.findIndex((element) => !isObject(element));
  if (wrong >= 0) throw unfit(`value for key ${wrong} is not a map`);
  const before = overwritten(current ?? [], change ?? [], mergeKey);
  return arranged(merged, order, before, (element) => keyIn(element, mergeKey));
}

/**
 * overwritten is what the API server takes for the list as it was: it deletes and adds in the same memory, so new elements stand
 * where deleted ones made room. Whoever deletes and adds at once, as kubectl apply does, sees it in the order.
 */
function overwritten(current: readonly unknown[], change: readonly unknown[], mergeKey: string): readonly unknown[] {
  const keyOf = (element: unknown): unknown => (isObject(element) ? member(element, mergeKey) : undefined);
  const isDirected = (element: unknown): boolean => isObject(element) && Object.hasOwn(element, '$patch');
  const deleted = new Set(change.filter(isDirected).map(keyOf));
  const memory = current.filter((element) => !deleted.has(keyOf(element)));
  const keys = new Set(memory.map(keyOf));
  for (const element of change) {
    if (memory.length === current.length) break;
    if (isDirected(element) || keys.has(keyOf(element))) continue;
    keys.add(keyOf(element));
    memory.push(element);
  }
  return memory;
}

/** separate takes the elements that say `$patch` out of a patch, and out of the list those that they delete. */
function separate(current: readonly unknown[], change: readonly unknown[], mergeKey: string) {
  const rest: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let isReplaced = false;
  // That all are maps was checked before.
  for (const element of change as readonly JsonObject[]) {
    if (!Object.hasOwn(element, '$patch')) rest.push(element);
    else if (element.$patch === 'replace') isReplaced = true;
    else if (element.$patch === 'delete') deleted.add(keyIn(element, mergeKey));
    else if (element.$patch === 'merge') throw unfit('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(element.$patch, element);
  }
  const kept = (current as readonly JsonObject[]).filter((element) => !deleted.has(member(element, mergeKey)));
  return { kept, rest, isReplaced };
}

/** arranged sorts a merged list: what `order` names as it says, the rest as it stood in `before`, woven by what stood there. */
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
  const ours = placed.filter((each) => each.wanted !== undefined);
  const others = placed.filter((each) => each.wanted === undefined);
  ours.sort((a, b) => (a.wanted ?? 0) - (b.wanted ?? 0));
  others.sort((a, b) => (a.had ?? 0) - (b.had ?? 0));
  const woven: T[] = [];
  let next = 0;
  for (const { element, had: place } of ours) {
    for (let other = others[next]; other && isBefore(other.had, place); other = others[++next]) {
      woven.push(other.element);
    }
    woven.push(element);
  }
  return [...woven, ...others.slice(next).map(({ element }) => element)];
}

function isBefore(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

/** positions are the places of elements, the first of those that are the same. */
function positions(list: readonly unknown[], keyOf: (element: unknown) => unknown): ReadonlyMap<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    const key = keyOf(element);
    if (!found.has(key)) found.set(key, index);
  }
  return found;
}

/** checkOrder refuses a patch whose elements do not come in the order that it gives itself. Those that it deletes may. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const keyOf = (element: unknown): unknown => (mergeKey === undefined ? element : keyIn(element, mergeKey));
  const isDirected = (element: unknown): boolean =>
    mergeKey !== undefined && isObject(element) && Object.hasOwn(element, '$patch');
  const listed = change.filter((element) => !isDirected(element) || (element as JsonObject).$patch !== 'delete');
  const keys = listed.map((element) => (isDirected(element) ? undefined : keyOf(element)));
  let at = 0;
  for (const [index, key] of keys.entries()) {
    const mayStandAnywhere = isDirected(listed[index]);
    while (!mayStandAnywhere && at < order.length && keyOf(order[at]) !== key) at++;
    if (at >= order.length) {
      throw unfit(
        `The order in patch list:\n${goText(change)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
      );
    }
    if (!mayStandAnywhere) at++;
  }
}

/** keyIn is what tells an element from the others. */
function keyIn(element: unknown, mergeKey: string): unknown {
  if (!isObject(element)) throw otherType('map', element);
  const key = member(element, mergeKey);
  if (key === undefined) throw withoutKey(element, mergeKey);
  if (typeof key === 'object' && key !== null)
    throw unfit(`the merge key ${mergeKey} of ${goText(element)} is no scalar`);
  return key;
}

const scalarKey = (element: unknown): unknown => element;

/** typeOfElements is the type that all elements of both lists must have. */
function typeOfElements(current: readonly unknown[], change: readonly unknown[]): string {
  const types = new Set([...current, ...change].map(typeOf));
  const [type = 'null'] = types;
  if (types.size > 1 || type === 'null') {
    throw unfit(`list element types are not identical: ${goText([current, change])}`);
  }
  if (type === 'list') throw unfit('lists of lists are not supported');
  return type;
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
