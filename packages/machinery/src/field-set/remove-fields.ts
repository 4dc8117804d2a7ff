import { isObject, type JsonObject, setMember } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';
import { type FieldsV1, fieldBelow } from './fields-v1.ts';
import { elementNames } from './list-elements.ts';
import { isEmptySet, isMember } from './set-operations.ts';

/**
 * removeFields returns an object without the fields of a set. A value that becomes empty is replaced by null.
 *
 * @example
 * removeFields({ a: 1, b: { c: 2 } }, { 'f:b': { 'f:c': {} } }, shape); // { a: 1, b: null }
 */
export function removeFields(object: JsonObject, fields: FieldsV1, shape: FieldShape): JsonObject {
  return isEmptySet(fields) ? object : ((without(object, fields, shape) ?? {}) as JsonObject);
}

function without(value: unknown, fields: FieldsV1, shape: FieldShape | undefined): unknown {
  if (Array.isArray(value)) {
    const names = shape ? elementNames(value, shape) : undefined;
    const element = shape?.element();
    const rest: unknown[] = [];
    names?.forEach((name, place) => {
      const node = fields[name];
      if (node === undefined) rest.push(value[place]);
      else if (!isMember(node)) rest.push(without(value[place], node, element));
    });
    return rest.length > 0 ? rest : null;
  }
  if (!isObject(value)) return value;
  if (shape?.mapType !== 'granular') return null;
  const rest: { [name: string]: unknown } = {};
  let isEmpty = true;
  for (const name of Object.keys(value)) {
    const node = fieldBelow(fields, name);
    if (value[name] === undefined || (node && isMember(node))) continue;
    setMember(rest, name, node ? without(value[name], node, shape.member(name)) : value[name]);
    isEmpty = false;
  }
  return isEmpty ? null : rest;
}
