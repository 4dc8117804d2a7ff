import type { JsonObject } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { elementNames, elementsByName, isEmptyObject, isGranularObject } from './list-elements.ts';
import { isEmptySet, NO_FIELDS, withSelf } from './set-operations.ts';

type MutableFields = { [element: string]: FieldsV1 };

/**
 * appliedSet returns the set of fields that an applied object specifies. Named fields that only contain other fields
 * are not in it, and neither are lists, unless they are owned as a whole; keys of maps and elements of lists are.
 *
 * @example
 * appliedSet({ data: { a: '1' } }, shape); // { 'f:data': { 'f:a': {} } }
 */
export function appliedSet(object: JsonObject, shape: FieldShape): FieldsV1 {
  const fields: MutableFields = {};
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const below = shape.member(name);
    const node = below ? nodeOf(value, below) : NO_FIELDS;
    if (!shape.declares(name)) fields[`f:${name}`] = withSelf(node ?? NO_FIELDS);
    else if (node) fields[`f:${name}`] = node;
  }
  return fields;
}

/**
 * nodeOf returns the node below a path element; undefined if there is none and the element itself is not in the set: an
 * empty list whose elements are owned individually specifies nothing.
 */
function nodeOf(value: unknown, shape: FieldShape): FieldsV1 | undefined {
  if (isGranularObject(value, shape)) return nonEmptySet(appliedSet(value, shape), value);
  const names = Array.isArray(value) ? elementNames(value, shape) : undefined;
  if (!Array.isArray(value) || names === undefined) return NO_FIELDS;
  if (names.length === 0) return undefined;
  const element = shape.element();
  const fields: MutableFields = {};
  for (const [name, [item, ...more]] of elementsByName(value, names)) {
    // For elements with the same name, it is unknown to which one a field belongs.
    const below = more.length === 0 && element ? nodeOf(item, element) : undefined;
    fields[name] = below ? withSelf(below) : NO_FIELDS;
  }
  return fields;
}

/** An empty object is in the set itself; an object whose members specify nothing is not. */
function nonEmptySet(fields: FieldsV1, object: JsonObject): FieldsV1 | undefined {
  if (!isEmptySet(fields)) return fields;
  return isEmptyObject(object) ? NO_FIELDS : undefined;
}

/**
 * wholeSet returns the set of a new object: everything in it is in the set, including fields that only contain other
 * fields.
 *
 * @example
 * wholeSet({ a: '1' }, mapShape); // { '.': {}, 'f:a': {} }
 */
export function wholeSet(value: unknown, shape: FieldShape | undefined): FieldsV1 {
  if (typeof value !== 'object' || value === null || shape === undefined) return NO_FIELDS;
  if (Array.isArray(value)) {
    const names = elementNames(value, shape);
    if (names === undefined || names.length === 0) return NO_FIELDS;
    const element = shape.element();
    const fields: MutableFields = { '.': NO_FIELDS };
    for (const [name, [item, ...more]] of elementsByName(value, names)) {
      fields[name] = more.length === 0 ? wholeSet(item, element) : NO_FIELDS;
    }
    return fields;
  }
  if (!isGranularObject(value, shape) || isEmptyObject(value)) return NO_FIELDS;
  const fields: MutableFields = { '.': NO_FIELDS };
  for (const name of Object.keys(value)) {
    const item = value[name];
    if (item !== undefined) fields[`f:${name}`] = wholeSet(item, shape.member(name));
  }
  return fields;
}
