import { isObject, type JsonObject, member } from '../json/json.ts';

/**
 * FieldsV1 is a set of fields as in `metadata.managedFields`. Members are path elements: `f:name` is a field, `k:{…}`
 * the element of a list with these keys, `v:…` the element of a list with this value, `i:0` an element by its index,
 * and `.` the parent itself. A path element without members below it is in the set itself.
 */
export type FieldsV1 = { readonly [element: string]: FieldsV1 };

/** PathElement is one step into a value. */
export type PathElement =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'key'; readonly key: JsonObject }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'index'; readonly index: number };

/** Cached objects are shared and never change, so each set is validated once. */
const known = new WeakSet<object>();

/** parseFieldsV1 validates the set of a managedFields entry; it returns undefined if it is not a set of fields. */
export function parseFieldsV1(fields: unknown): FieldsV1 | undefined {
  if (!isObject(fields)) return undefined;
  if (!known.has(fields)) {
    if (!isFields(fields)) return undefined;
    known.add(fields);
  }
  // Every level has been validated, now or before.
  return fields as FieldsV1;
}

function isFields(fields: unknown): boolean {
  if (!isObject(fields)) return false;
  for (const [element, below] of Object.entries(fields)) {
    if (element !== '.' && parsePathElement(element) === undefined) return false;
    if (!isFields(below)) return false;
  }
  return true;
}

/** parsePathElement parses one path element; it returns undefined if the text is not a path element. */
export function parsePathElement(element: string): PathElement | undefined {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return { type: 'field', name: text };
    case 'k:': {
      const key = parseJson(text);
      return isObject(key) ? { type: 'key', key } : undefined;
    }
    case 'v:': {
      const value = parseJson(text);
      return value === undefined ? undefined : { type: 'value', value };
    }
    case 'i:':
      return /^\d+$/.test(text) ? { type: 'index', index: Number(text) } : undefined;
    default:
      return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * fieldBelow returns the part of a set below a named field; undefined if neither the field nor anything in it is in the
 * set.
 */
export function fieldBelow(fields: FieldsV1, name: string): FieldsV1 | undefined {
  // Own members only: `f:constructor` is a label like any other.
  return member(fields, `f:${name}`) as FieldsV1 | undefined;
}

/** elementsOf returns the path elements of a set, without `.`. */
export function elementsOf(fields: FieldsV1): string[] {
  return Object.keys(fields).filter((element) => element !== '.');
}

/** isLeaf reports whether nothing below is in the set. */
export function isLeaf(fields: FieldsV1): boolean {
  for (const element in fields) if (element !== '.') return false;
  return true;
}

/**
 * hasField reports whether a field, or anything in it, is in a set. It stops at a value that is owned as a whole:
 * everything inside it is in the set too. Lists cannot be entered by name.
 *
 * @example
 * hasField({ 'f:spec': { 'f:replicas': {} } }, ['spec']); // true
 */
export function hasField(fields: FieldsV1, path: readonly string[]): boolean {
  let here = fields;
  for (const [depth, name] of path.entries()) {
    if (depth > 0 && isLeaf(here)) return true;
    const below = fieldBelow(here, name);
    if (below === undefined) return false;
    here = below;
  }
  return !(path.length === 0 && isLeaf(here));
}
