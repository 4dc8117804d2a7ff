import type { FieldProblem } from '@bowline/machinery';
import { compilePattern } from '@bowline/machinery/schema';
import { forbidden, invalid, notSupported, required } from '../registry/kinds/shared/problems.ts';
import { listProblems } from './list-problems.ts';
import { ruleFormProblems } from './rule-problems.ts';
import { below, branchesOf, type SchemaProps } from './schema-props.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** JSON Schema keywords that the API server rejects, in the order of its messages. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

/** schemaProblems returns the problems of a schema and of everything in it, each level by itself. */
export function schemaProblems(schema: SchemaProps, path: string): FieldProblem[] {
  return [
    ...levelProblems(schema, path),
    ...below(schema, path).flatMap((each) => schemaProblems(each.schema, each.path)),
    ...branchesOf(schema, path).flatMap((each) => schemaProblems(each.schema, each.path)),
  ];
}

function levelProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { type, additionalProperties: additional } = schema;
  if (type !== undefined && !TYPES.includes(type)) problems.push(notSupported(`${path}.type`, type, TYPES));
  for (const name of UNSUPPORTED) {
    if (schema[name] !== undefined) problems.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  }
  if (type === 'null')
    problems.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    problems.push(forbidden(`${path}.uniqueItems`, why));
  }
  if (additional !== undefined && additional !== true && Object.keys(schema.properties ?? {}).length > 0) {
    const why = 'additionalProperties and properties are mutual exclusive';
    problems.push(forbidden(`${path}.additionalProperties`, why));
  }
  if (Array.isArray(schema.items))
    problems.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    problems.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  problems.push(...mapTypeProblems(schema, path), ...listProblems(schema, path), ...patternProblems(schema, path));
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries())
    problems.push(...ruleFormProblems(rule, schema, `${path}.x-kubernetes-validations[${index}]`));
  return problems;
}

function mapTypeProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const problems: FieldProblem[] = [];
  if (schema.type !== 'object') {
    const why = 'must be object if x-kubernetes-map-type is specified';
    problems.push(schema.type ? invalid(`${path}.type`, schema.type, why) : required(`${path}.type`, why));
  }
  if (!['atomic', 'granular'].includes(mapType))
    problems.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  return problems;
}

function patternProblems({ pattern }: SchemaProps, path: string): FieldProblem[] {
  if (!pattern) return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    const cause = (error as Error).cause;
    const why = cause instanceof Error ? cause.message : String(error);
    return [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)];
  }
}
