import { formatJson, quoteText } from '../json/go-text.ts';
import { isObject, type JsonObject, member } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';

/** isGranularObject reports whether the members of an object are owned individually. */
export function isGranularObject(value: unknown, shape: FieldShape): value is JsonObject {
  return shape.mapType === 'granular' && isObject(value);
}

/** isEmptyObject reports whether an object has no members. */
export function isEmptyObject(object: JsonObject): boolean {
  for (const name of Object.keys(object)) if (object[name] !== undefined) return false;
  return true;
}

/**
 * elementNames returns the path elements of a list whose elements are owned individually; undefined for a list that is
 * owned as a whole, because of its shape or because its elements cannot be identified.
 */
export function elementNames(list: readonly unknown[], shape: FieldShape): string[] | undefined {
  if (shape.listType === 'atomic') return undefined;
  const element = shape.element();
  const names: string[] = [];
  for (const item of list) {
    const name = shape.listType === 'set' ? valueName(item) : keyName(item, shape.keys, element);
    if (name === undefined) return undefined;
    names.push(name);
  }
  return names;
}

/** elementProblem returns the reason why an element cannot be identified; undefined if it can. */
export function elementProblem(item: unknown, shape: FieldShape): string | undefined {
  if (shape.listType === 'set') {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    if (Array.isArray(item)) return 'not supporting lists with lists as elements';
    return isObject(item) ? "associative list without keys has an element that's a map type" : undefined;
  }
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  const element = shape.element();
  if (shape.keys.some((key) => keyValue(item, key, element) !== undefined)) return undefined;
  const keys = shape.keys.map((key) => quoteText(key)).join(' ');
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}

function keyValue(item: JsonObject, key: string, element: FieldShape | undefined): unknown {
  return member(item, key) ?? element?.member(key)?.default;
}

function valueName(item: unknown): string | undefined {
  return item === undefined || typeof item === 'object' ? undefined : `v:${formatJson(item)}`;
}

function keyName(item: unknown, keys: readonly string[], element: FieldShape | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  let parts = '';
  for (const key of keys) {
    const value = keyValue(item, key, element);
    // A missing key without a default is left out of the name.
    if (value !== undefined) parts += `${parts === '' ? '' : ','}${formatJson(key)}:${formatJson(value)}`;
  }
  return `k:{${parts}}`;
}

/** Elements holds the elements of a list by name. A name that occurs more than once has several values. */
export type Elements = ReadonlyMap<string, readonly [unknown, ...unknown[]]>;

/** elementsByName groups the elements of a list by their names. */
export function elementsByName(list: readonly unknown[], names: readonly string[]): Elements {
  const elements = new Map<string, [unknown, ...unknown[]]>();
  names.forEach((name, index) => {
    const known = elements.get(name);
    if (known) known.push(list[index]);
    else elements.set(name, [list[index]]);
  });
  return elements;
}
