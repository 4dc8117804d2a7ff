import { isObject, isSameJson, type JsonObject, member } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';

/** KeyElement is a path element that identifies an element by its keys. */
export interface KeyElement {
  readonly key: JsonObject;
  readonly text: string;
}

/** ElementMatch links a desired element to its entry in our set and to its index in the stored list. */
export interface ElementMatch {
  readonly item: unknown;
  /** The path element; undefined if the element is not in our set. */
  readonly text: string | undefined;
  readonly storedIndex: number | undefined;
}

/**
 * matchElements matches the desired elements of a list that is merged by keys. A missing key has its default value. It
 * returns undefined if a match is ambiguous.
 */
export function matchElements(
  desired: readonly unknown[],
  stored: readonly unknown[],
  keys: readonly KeyElement[],
  shape: FieldShape | undefined,
): ElementMatch[] | undefined {
  const names = [...new Set(keys.flatMap(({ key }) => Object.keys(key)))];
  const defaults = names.map((name) => shape?.member(name)?.default);
  const identityOf = (item: JsonObject): Identity => names.map((name, index) => member(item, name) ?? defaults[index]);
  const known = keys.map(({ key, text }) => ({ text, identity: names.map((name) => member(key, name)) }));
  const storedIdentities = stored.map((each) => (isObject(each) ? identityOf(each) : undefined));
  const matches: ElementMatch[] = [];
  for (const item of desired) {
    if (!isObject(item)) return undefined;
    const identity = identityOf(item);
    const [entry, another] = known.filter((each) => isCompatible(identity, each.identity));
    if (another || (entry && matches.some(({ text }) => text === entry.text))) return undefined;
    const target = entry?.identity ?? identity;
    const storedIndex = storedIdentities.findIndex((each) => each !== undefined && isCompatible(each, target));
    matches.push({ item, text: entry?.text, storedIndex: storedIndex < 0 ? undefined : storedIndex });
  }
  return matches;
}

/** The values of the keys, in the order of their names. A key without a value or default matches any value. */
type Identity = readonly unknown[];

function isCompatible(a: Identity, b: Identity): boolean {
  return a.every((part, index) => {
    const other = b[index];
    return part === other || part === undefined || other === undefined || isSameJson(part, other);
  });
}
