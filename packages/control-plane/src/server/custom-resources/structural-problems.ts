import type { FieldProblem } from '@bowline/machinery';
import { forbidden, invalid, required } from '../registry/kinds/shared/problems.ts';
import { asSchema, below, branchesOf, type SchemaProps, sortedEntries } from './schema-props.ts';

const METADATA_FIELDS = ['name', 'generateName'];
const INT_OR_STRING = '[{"type":"integer"},{"type":"string"}]';

/**
 * structuralProblems returns what prevents a schema from being structural, that is, from specifying the type of every
 * value.
 */
export function structuralProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const problems = [...levelProblems(schema, path, 'root'), ...branchProblems(schema, path)];
  for (const branch of branchesOf(schema, path)) problems.push(...incomplete(branch.schema, schema, branch.path, path));
  return problems.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function textOf({ field, message }: FieldProblem): string {
  return `${field}: ${message}`;
}

function levelProblems(schema: SchemaProps, path: string, kind: 'root' | 'field' | 'item'): FieldProblem[] {
  return [
    ...typeProblems(schema, path, kind),
    ...extensionProblems(schema, path),
    ...(kind === 'root' || schema['x-kubernetes-embedded-resource'] === true ? resourceProblems(schema, path) : []),
    ...below(schema, path).flatMap((each) => [
      ...levelProblems(each.schema, each.path, each.kind),
      ...branchProblems(each.schema, each.path),
    ]),
  ];
}

function typeProblems(schema: SchemaProps, path: string, kind: 'root' | 'field' | 'item'): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { type } = schema;
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (kind === 'root') {
    if (!type) problems.push(required(`${path}.type`, 'must not be empty at the root'));
    else if (type !== 'object') problems.push(invalid(`${path}.type`, type, 'must be object at the root'));
    if (schema.additionalProperties !== undefined)
      problems.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  } else if (!type && !isOpen) {
    const what = kind === 'item' ? 'array items' : 'object fields';
    problems.push(required(`${path}.type`, `must not be empty for specified ${what}`));
  }
  if (type === 'array' && !asSchema(schema.items)) problems.push(required(`${path}.items`, 'must be specified'));
  return problems;
}

function extensionProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string'] === true) {
    const why = 'must be false if x-kubernetes-int-or-string is true';
    if (keepsUnknown) problems.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, true, why));
    if (isEmbedded) problems.push(invalid(`${path}.x-kubernetes-embedded-resource`, true, why));
  }
  if (!isEmbedded) return problems;
  if (!keepsUnknown && Object.keys(schema.properties ?? {}).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    problems.push(required(`${path}.properties`, why));
  }
  if (schema.type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    problems.push(schema.type ? invalid(`${path}.type`, schema.type, why) : required(`${path}.type`, why));
  }
  if (schema.additionalProperties !== undefined) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set';
    problems.push(forbidden(`${path}.additionalProperties`, why));
  }
  return problems;
}

/** resourceProblems returns the problems of what a schema specifies for the fields that every object has. */
function resourceProblems({ properties }: SchemaProps, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [name, type] of [
    ['metadata', 'object'],
    ['apiVersion', 'string'],
    ['kind', 'string'],
  ] as const) {
    const field = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!field) continue;
    const at = `${path}.properties[${name}]`;
    if (field.type !== type) problems.push(invalid(`${at}.type`, field.type ?? '', `must be ${type}`));
    if (name === 'metadata' && hasOtherFields(field)) {
      const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      problems.push(forbidden(at, why));
    }
  }
  return problems;
}

function hasOtherFields({
  properties,
  additionalProperties,
  items,
  type,
  description,
  default: _,
  ...rest
}: SchemaProps): boolean {
  const others = Object.keys(properties ?? {}).filter((name) => !METADATA_FIELDS.includes(name));
  return others.length > 0 || additionalProperties !== undefined || items !== undefined || Object.keys(rest).length > 0;
}

/** branchProblems returns the problems of a level's branches: they may only restrict values. */
function branchProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  return branchesOf(schema, path).flatMap((branch) => {
    if (isIntOrString && branch.of === 'anyOf' && JSON.stringify(schema.anyOf) === INT_OR_STRING) return [];
    const isFirst = isIntOrString && branch.of === 'allOf' && branch.index === 0;
    return nestedProblems(branch.schema, branch.path, isFirst && JSON.stringify(branch.schema.anyOf) === INT_OR_STRING);
  });
}

/** Keywords that a branch may not have, with their messages. */
const NOT_IN_BRANCHES = [
  ['type', 'must be empty to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['nullable', 'must be false to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
] as const;

function nestedProblems(schema: SchemaProps, path: string, skipsAnyOf = false): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [name, why] of NOT_IN_BRANCHES) {
    const value = schema[name];
    if (value !== undefined && value !== false && value !== '') problems.push(forbidden(`${path}.${name}`, why));
  }
  for (const branch of branchesOf(schema, path))
    if (!skipsAnyOf || branch.of !== 'anyOf') problems.push(...nestedProblems(branch.schema, branch.path));
  for (const [name, field] of sortedEntries(schema.properties)) {
    const at = `${path}.properties[${name}]`;
    if (name === 'metadata') problems.push(forbidden(at, 'must not be specified in a nested context'));
    else problems.push(...nestedProblems(field, at));
  }
  const items = asSchema(schema.items);
  return items ? [...problems, ...nestedProblems(items, `${path}.items`)] : problems;
}

/** incomplete returns the problems of fields that branches of the root mention and the schema itself does not. */
function incomplete(branch: SchemaProps, spine: SchemaProps, path: string, spinePath: string): FieldProblem[] {
  const problems = branchesOf(branch, path).flatMap((each) => incomplete(each.schema, spine, each.path, spinePath));
  for (const [name, field] of sortedEntries(branch.properties)) {
    const own = spine.properties && Object.hasOwn(spine.properties, name) ? spine.properties[name] : undefined;
    const [at, spineField] = [`${path}.properties[${name}]`, `${spinePath}.properties[${name}]`];
    if (own) problems.push(...incomplete(field, own, at, spineField));
    else problems.push(required(spineField, `because it is defined in ${at}`));
  }
  const items = asSchema(branch.items);
  const ownItems = asSchema(spine.items);
  if (items && ownItems) problems.push(...incomplete(items, ownItems, `${path}.items`, `${spinePath}.items`));
  else if (items) problems.push(required(`${spinePath}.items`, `because it is defined in ${path}.items`));
  return problems;
}
