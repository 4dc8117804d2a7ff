import { FORMAT_NAMES, formatCheck } from '../formats/formats.ts';
import { isInt64 } from '../json/go-text.ts';
import { isObject } from '../json/json.ts';
import { type SchemaProblem, structuralProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { checkCompleteness } from './check-nested.ts';

/**
 * checkConsistency returns the parts of one level of a schema that the API server accepts but that cannot be intended: bounds
 * that exclude each other, enumerations of a wrong type, formats that it ignores, branches for fields that do not
 * exist.
 */
export function checkConsistency(schema: StructuralSchema): SchemaProblem[] {
  return [...checkBounds(schema), ...checkEnum(schema), ...checkFormat(schema), ...checkCompleteness(schema)];
}

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const RANGES = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minimum', 'maximum'],
] as const;

function checkBounds(schema: StructuralSchema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const key of COUNTS) {
    const count = schema[key];
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0))
      problems.push(structuralProblem('', `${key} is ${count}; use a non-negative integer`));
  }
  for (const [minKey, maxKey] of RANGES) {
    const low = schema[minKey];
    const high = schema[maxKey];
    if (low !== undefined && high !== undefined && low > high)
      problems.push(
        structuralProblem(
          '',
          `${minKey} ${low} is greater than ${maxKey} ${high}, so no value is valid; change one of them`,
        ),
      );
  }
  for (const key of ['minimum', 'maximum', 'multipleOf'] as const) {
    const bound = schema[key];
    if (bound === undefined) continue;
    if (!Number.isFinite(bound)) problems.push(structuralProblem('', `${key} is ${bound}; use a finite number`));
    // The API server would truncate the bound and compare with a different value.
    else if (schema.type === 'integer' && !Number.isInteger(bound))
      problems.push(structuralProblem('', `${key} is ${bound}, but the values are integers; use an integer`));
  }
  if (schema.multipleOf !== undefined && schema.multipleOf <= 0)
    problems.push(structuralProblem('', `multipleOf is ${schema.multipleOf}; use a positive number`));
  return problems;
}

function checkEnum(schema: StructuralSchema): SchemaProblem[] {
  const values = schema.enum;
  if (values === undefined) return [];
  if (values.length === 0) return [structuralProblem('', 'is an enum without values; list the allowed values')];
  const problems: SchemaProblem[] = [];
  for (const value of values) {
    if (!isOfType(value, schema.type))
      problems.push(
        structuralProblem('', `the enum contains ${JSON.stringify(value)}, which is not of type ${schema.type}`),
      );
  }
  if (new Set(values.map((value) => JSON.stringify(value))).size < values.length)
    problems.push(structuralProblem('', 'the enum contains a value twice; list each value once'));
  return problems;
}

function isOfType(value: unknown, type: StructuralSchema['type']): boolean {
  switch (type) {
    case 'integer':
      return typeof value === 'number' && isInt64(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case undefined:
      return true;
    default:
      return typeof value === type;
  }
}

const NUMBER_FORMATS = ['int32', 'int64', 'float', 'double'];

function checkFormat(schema: StructuralSchema): SchemaProblem[] {
  const { format, type } = schema;
  if (format === undefined) return [];
  if (type === 'integer' || type === 'number') {
    return NUMBER_FORMATS.includes(format)
      ? []
      : [structuralProblem('', `unknown number format ${format}; use ${NUMBER_FORMATS.join(', ')}`)];
  }
  if (formatCheck(format) !== undefined) return [];
  return [
    structuralProblem(
      '',
      `the API server does not check the format ${format}; use a pattern, or one of ${FORMAT_NAMES.join(', ')}`,
    ),
  ];
}
