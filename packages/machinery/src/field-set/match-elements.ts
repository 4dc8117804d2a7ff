import { isObject, isSameJson, type JsonObject, member } from '../patch/json.ts';
import type { FieldShape } from './field-shape.ts';

/** KeyElement is a path element that names an element by its keys. */
export interface KeyElement {
  readonly key: JsonObject;
  readonly text: string;
}

/** ElementMatch ties an element that we want to its entry in our set and to its place in the stored list. */
export interface ElementMatch {
  readonly item: unknown;
  /** The path element; undefined when the element is not in our set. */
  readonly text: string | undefined;
  readonly place: number | undefined;
}

/**
 * matchElements finds wanted elements of a list that is merged by keys. Keys that an element leaves out have their default;
 * undefined when it is not clear which element is meant.
 */
export function matchElements(
  desired: readonly unknown[],
  stored: readonly unknown[],
  keys: readonly KeyElement[],
  shape: FieldShape | undefined,
): ElementMatch[] | undefined {
  const names = [...new Set(keys.flatMap(({ key }) => Object.keys(key)))];
  const identityOf = (item: JsonObject): JsonObject =>
    Object.fromEntries(names.map((name) => [name, member(item, name) ?? shape?.member(name)?.default]));
  const matches: ElementMatch[] = [];
  for (const item of desired) {
    if (!isObject(item)) return undefined;
    const identity = identityOf(item);
    const known = keys.filter(({ key }) => covers(identity, key));
    if (known.length > 1 || matches.some(({ text }) => text !== undefined && text === known[0]?.text)) return undefined;
    const target = known[0]?.key ?? identity;
    const place = stored.findIndex((each) => isObject(each) && covers(identityOf(each), target));
    matches.push({ item, text: known[0]?.text, place: place < 0 ? undefined : place });
  }
  return matches;
}

/** covers says that nothing in the identity speaks against the key. A part without value or default could be any. */
function covers(identity: JsonObject, key: JsonObject): boolean {
  return Object.entries(key).every(
    ([name, value]) => identity[name] === undefined || isSameJson(identity[name], value),
  );
}
