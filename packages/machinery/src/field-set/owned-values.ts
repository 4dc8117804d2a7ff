import { isObject, isSameJson, type JsonObject, member, setMember } from '../json/json.ts';
import { elementsOf, type FieldsV1, fieldBelow, isLeaf, parsePathElement } from './fields-v1.ts';

/**
 * ownedValues returns the part of an object that is in a set of fields: the values that a manager specified. Elements
 * of lists keep their keys and their order.
 *
 * @example
 * ownedValues({ spec: { replicas: 1, paused: true } }, { 'f:spec': { 'f:paused': {} } }); // { spec: { paused: true } }
 */
export function ownedValues(object: unknown, fields: FieldsV1): unknown {
  if (Array.isArray(object)) return ofList(object, fields);
  if (!isObject(object)) return object;
  const values: { [name: string]: unknown } = {};
  for (const element of elementsOf(fields)) {
    const path = parsePathElement(element);
    const value = path?.type === 'field' ? member(object, path.name) : undefined;
    const below = path?.type === 'field' ? fieldBelow(fields, path.name) : undefined;
    if (path?.type !== 'field' || value === undefined || below === undefined) continue;
    setMember(values, path.name, isLeaf(below) ? value : ownedValues(value, below));
  }
  return values;
}

function ofList(list: readonly unknown[], fields: FieldsV1): unknown[] {
  const elements = elementsOf(fields).map((element) => ({
    path: parsePathElement(element),
    below: fields[element] ?? {},
  }));
  return list.flatMap((item, index) => {
    for (const { path, below } of elements) {
      if (path?.type === 'value' && isSameJson(path.value, item)) return [item];
      if (path?.type === 'index' && path.index === index) return [isLeaf(below) ? item : ownedValues(item, below)];
      if (path?.type !== 'key' || !isObject(item) || !hasKey(item, path.key)) continue;
      return [isLeaf(below) ? item : { ...path.key, ...(ownedValues(item, below) as JsonObject) }];
    }
    return [];
  });
}

function hasKey(item: JsonObject, key: JsonObject): boolean {
  return Object.entries(key).every(([name, value]) => isSameJson(member(item, name), value));
}
