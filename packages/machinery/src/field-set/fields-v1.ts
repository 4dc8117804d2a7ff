import { isObject, type JsonObject, member } from '../json/json.ts';

/**
 * FieldsV1 is a set of fields as `metadata.managedFields` holds it. Members are path elements: `f:name` a field,
 * `k:{…}` the element of a list with these keys, `v:…` the element of a list that is this value, `i:0` an element by its
 * place, and `.` the thing itself. A path element without members below it is in the set itself.
 */
export type FieldsV1 = { readonly [element: string]: FieldsV1 };

/** PathElement is one step from a value into it. */
export type PathElement =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'key'; readonly key: JsonObject }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'index'; readonly index: number };

/** Objects of a cache are shared and never change, so a set is looked at once. */
const known = new WeakSet<object>();

/** parseFieldsV1 takes what stands in a managedFields entry; undefined when it is no set of fields. */
export function parseFieldsV1(fields: unknown): FieldsV1 | undefined {
  if (!isObject(fields)) return undefined;
  if (!known.has(fields)) {
    if (!isFields(fields)) return undefined;
    known.add(fields);
  }
  // Every level was looked at, now or before.
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

/** parsePathElement reads one path element; undefined when it is none. */
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

/** fieldBelow is the part of a set below a named field; undefined when neither the field nor anything in it is in the set. */
export function fieldBelow(fields: FieldsV1, name: string): FieldsV1 | undefined {
  // Own members only: `f:constructor` is a label like any other.
  return member(fields, `f:${name}`) as FieldsV1 | undefined;
}

/** elementsOf are the path elements of a set, without the thing itself. */
export function elementsOf(fields: FieldsV1): string[] {
  return Object.keys(fields).filter((element) => element !== '.');
}

/** isLeaf says that nothing below is in the set, only the thing itself. */
export function isLeaf(fields: FieldsV1): boolean {
  for (const element in fields) if (element !== '.') return false;
  return true;
}

/**
 * hasField says whether a field, or anything in it, is in a set. Stops at what is owned as a whole: all inside it is in the
 * set too. Lists cannot be stepped into by name.
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
