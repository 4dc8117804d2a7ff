import { fieldPathProblem } from '../cel/field-path.ts';
import { appendPath, type SchemaProblem, structuralProblem } from '../structural-schema/schema-problem.ts';
import {
  additionalSchema,
  type StructuralSchema,
  type ValidationRule,
} from '../structural-schema/structural-schema.ts';
import { checkNested } from './check-nested.ts';

/**
 * checkStructure returns the problems for which the API server would reject one level of a schema; lower levels are
 * checked separately.
 */
export function checkStructure(schema: StructuralSchema): SchemaProblem[] {
  return [
    ...checkKind(schema),
    ...checkMembers(schema),
    ...checkListType(schema),
    ...checkNested(schema),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => checkRuleForm(rule, schema, index)),
  ];
}

function checkKind(schema: StructuralSchema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (schema.type === undefined && !isIntOrString && !keepsUnknown)
    problems.push(structuralProblem('', 'has no type; only int-or-string and unknown values may omit it'));
  if (isIntOrString && (keepsUnknown || isEmbedded))
    problems.push(
      structuralProblem('', 'is an int-or-string and cannot preserve unknown fields or be an embedded resource'),
    );
  if (isEmbedded && schema.type !== 'object')
    problems.push(structuralProblem('', 'is an embedded resource, so its type must be object'));
  if (isEmbedded && !keepsUnknown && Object.keys(schema.properties ?? {}).length === 0)
    problems.push(
      structuralProblem('', 'is an embedded resource without fields; define them or preserve unknown fields'),
    );
  if (schema['x-kubernetes-map-type'] !== undefined && schema.type !== 'object')
    problems.push(structuralProblem('', 'has a map type, so its type must be object'));
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    problems.push(structuralProblem('', 'x-kubernetes-preserve-unknown-fields must be true or absent'));
  return problems;
}

function checkMembers(schema: StructuralSchema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const hasFields = Object.keys(schema.properties ?? {}).length > 0;
  const additional = schema.additionalProperties;
  if (hasFields && additional !== undefined && additional !== true)
    problems.push(
      structuralProblem('', 'has both properties and additionalProperties; move the map to a separate field'),
    );
  if (additional !== undefined && schema['x-kubernetes-embedded-resource'] === true)
    problems.push(structuralProblem('', 'is an embedded resource and cannot have additionalProperties'));
  if (schema.type === 'array' && schema.items === undefined)
    problems.push(structuralProblem('', 'is a list without a schema for its items'));
  if (schema.uniqueItems === true)
    problems.push(
      structuralProblem('', 'uniqueItems is rejected by the API server; make the list a set with listType'),
    );
  return problems;
}

function checkListType(schema: StructuralSchema): SchemaProblem[] {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (listType === undefined)
    return keys.length === 0 ? [] : [structuralProblem('', 'has list-map keys but is not a list-map')];
  if (schema.type !== 'array') return [structuralProblem('', 'has a list type, so its type must be array')];
  const { items } = schema;
  if (items === undefined || listType === 'atomic') return [];
  const problems: SchemaProblem[] = [];
  if (items.nullable === true)
    problems.push(structuralProblem('items', `cannot be nullable in a list of type ${listType}`));
  if (listType === 'set') return [...problems, ...checkSetItems(items)];
  if (keys.length === 0)
    problems.push(structuralProblem('', 'is a list-map without keys; specify the fields that identify an item'));
  if (items.type !== 'object')
    return [...problems, structuralProblem('items', 'must be objects, because the list is a map')];
  if (new Set(keys).size < keys.length) problems.push(structuralProblem('', 'lists a list-map key twice'));
  return [...problems, ...keys.flatMap((key) => checkListKey(items, key))];
}

function checkSetItems(items: StructuralSchema): SchemaProblem[] {
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [
      structuralProblem(
        'items',
        'are objects in a set and must be atomic; use structType("atomic"), or listMapBy with their keys',
      ),
    ];
  const inner = items['x-kubernetes-list-type'];
  if (items.type === 'array' && inner !== undefined && inner !== 'atomic')
    return [structuralProblem('items', 'are lists in a set and must be atomic')];
  return [];
}

function checkListKey(items: StructuralSchema, key: string): SchemaProblem[] {
  const at = `items.properties[${key}]`;
  const field =
    items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
  if (field === undefined) return [structuralProblem(at, 'is a key of the list-map but not a field of its items')];
  const problems: SchemaProblem[] = [];
  if (field.type === 'array' || field.type === 'object')
    problems.push(structuralProblem(at, 'is a key of the list-map and must be a scalar'));
  if (items.required?.includes(key) !== true && field.default === undefined)
    problems.push(
      structuralProblem(at, 'is a key of the list-map but may be absent; make it required or give it a default'),
    );
  if (field.nullable === true) problems.push(structuralProblem(at, 'is a key of the list-map and cannot be nullable'));
  return problems;
}

const REASONS = ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'];

function checkRuleForm(rule: ValidationRule, schema: StructuralSchema, index: number): SchemaProblem[] {
  const wrong = (problem: string): SchemaProblem => {
    return { code: 'BOWLINE_SCHEMA_RULE', path: `x-kubernetes-validations[${index}]`, problem };
  };
  const problems: SchemaProblem[] = [];
  if (rule.rule.trim() === '') problems.push(wrong('the rule is empty; write a CEL expression'));
  if (rule.message !== undefined && rule.message.trim() === '')
    problems.push(wrong('the message is empty; omit it or write one'));
  if (rule.message?.trim().includes('\n') === true)
    problems.push(wrong('the message has a line break; write it on one line'));
  if (rule.rule.trim().includes('\n') && (rule.message ?? '').trim() === '')
    problems.push(wrong('the rule has a line break, so it needs a message; add one'));
  if (rule.messageExpression !== undefined && rule.messageExpression.trim() === '')
    problems.push(wrong('the messageExpression is empty; omit it or write one'));
  if (rule.reason !== undefined && !REASONS.includes(rule.reason))
    problems.push(wrong(`unknown reason ${JSON.stringify(rule.reason)}; use ${REASONS.join(', ')}`));
  if (rule.fieldPath !== undefined) {
    const problem = fieldPathProblem(rule.fieldPath, schema);
    if (problem !== undefined) problems.push(wrong(`the fieldPath ${JSON.stringify(rule.fieldPath)} ${problem}`));
  }
  return problems;
}

/** forEachSchema visits a schema and all schemas in it, each with its path. */
export function forEachSchema(
  schema: StructuralSchema,
  path: string,
  visit: (schema: StructuralSchema, path: string) => void,
): void {
  visit(schema, path);
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    forEachSchema(field, appendPath(path, `properties[${name}]`), visit);
  const additional = additionalSchema(schema);
  if (additional !== undefined) forEachSchema(additional, appendPath(path, 'additionalProperties'), visit);
  if (schema.items !== undefined) forEachSchema(schema.items, appendPath(path, 'items'), visit);
}
