import type { FieldProblem } from '@bowline/machinery';
import { forbidden, invalid, notSupported, required } from '../registry/kinds/shared/problems.ts';
import { asSchema, type SchemaProps } from './schema-props.ts';

const LIST_TYPES = ['atomic', 'set', 'map'];

/** listProblems returns the problems of a list's type and keys, by which its items are distinguished. */
export function listProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const problems: FieldProblem[] = [];
  const at = (name: string): string => `${path}.${name}`;
  if (listType !== undefined && schema.type !== 'array') {
    const why = 'must be array if x-kubernetes-list-type is specified';
    problems.push(schema.type ? invalid(at('type'), schema.type, why) : required(at('type'), why));
  } else if (listType !== undefined && !LIST_TYPES.includes(listType)) {
    problems.push(notSupported(at('x-kubernetes-list-type'), listType, LIST_TYPES));
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    problems.push(
      listType === undefined
        ? required(at('x-kubernetes-list-type'), why)
        : invalid(at('x-kubernetes-list-type'), listType, why),
    );
  }
  const items = asSchema(schema.items);
  if (schema.type !== 'array' || items === undefined) return problems;
  if (listType === 'set') problems.push(...setProblems(items, at('items')));
  if (listType === 'map') problems.push(...mapProblems(items, keys, path));
  return problems;
}

function setProblems(items: SchemaProps, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (items.nullable === true)
    problems.push(forbidden(`${path}.nullable`, 'cannot be nullable when x-kubernetes-list-type is set'));
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const mapType = items['x-kubernetes-map-type'];
  const inner = items['x-kubernetes-list-type'];
  if (items.type === 'object' && mapType !== 'atomic')
    problems.push(invalid(`${path}.x-kubernetes-map-type`, mapType, why));
  if (items.type === 'array' && inner !== undefined && inner !== 'atomic')
    problems.push(invalid(`${path}.x-kubernetes-list-type`, inner, why));
  return problems;
}

function mapProblems(items: SchemaProps, keys: readonly string[], path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) problems.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (items.nullable === true)
    problems.push(forbidden(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is map'));
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    return [
      ...problems,
      items.type ? invalid(`${path}.items.type`, items.type, why) : required(`${path}.items.type`, why),
    ];
  }
  const properties = items.properties ?? {};
  const field = (key: string): SchemaProps | undefined =>
    Object.hasOwn(properties, key) ? properties[key] : undefined;
  const at = (key: string): string => `${path}.items.properties[${key}]`;
  for (const key of keys) {
    const own = field(key);
    if (!own) problems.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
    else if (own.type === 'array' || own.type === 'object') {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      problems.push(invalid(`${at(key)}.type`, own.type, why));
    }
  }
  if (new Set(keys).size < keys.length) problems.push(invalid(keysPath, keys, 'must not contain duplicate entries'));
  for (const key of new Set(keys)) {
    const own = field(key);
    if (own && items.required?.includes(key) !== true && own.default === undefined) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      problems.push(required(`${at(key)}.default`, why));
    }
    if (own?.nullable === true) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      problems.push(forbidden(`${at(key)}.nullable`, why));
    }
  }
  return problems;
}
