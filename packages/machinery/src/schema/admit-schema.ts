import { compileRules } from '../cel/compile-rules.ts';
import { isSameJson } from '../json/json.ts';
import { refuse, type SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { describeProblems } from '../validation/field-problem.ts';
import { applyDefaults } from './apply-defaults.ts';
import { checkConsistency } from './check-consistency.ts';
import { checkOldSelf } from './check-old-self.ts';
import { checkStructure } from './check-structure.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

/**
 * admitSchema returns a schema, or throws if the API server would reject it or it cannot be intended. The schemas
 * inside it have been checked before.
 */
export function admitSchema(schema: StructuralSchema): StructuralSchema {
  const what = `the schema of type ${schema.type ?? (schema['x-kubernetes-int-or-string'] === true ? 'int-or-string' : 'unknown')}`;
  refuse(what, [...checkStructure(schema), ...checkConsistency(schema)]);
  // Rules are compiled only for a valid schema, and values are checked only against rules that compile.
  refuse(what, compileRules(schema, { isResource: schema['x-kubernetes-embedded-resource'] === true }).problems);
  refuse(what, [...checkOldSelf(schema), ...checkDefault(schema), ...checkExample(schema)]);
  return schema;
}

/** checkDefault returns the problems of the default at one level of a schema. */
export function checkDefault(schema: StructuralSchema): SchemaProblem[] {
  const value = schema.default;
  if (value === undefined) return [];
  const wrong = (problem: string): SchemaProblem[] => [{ code: 'BOWLINE_SCHEMA_DEFAULT', path: 'default', problem }];
  if (value === null) return wrong('null is not a valid default: the API server ignores it; remove it');
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (!isSameJson(prune(value, schema, { isResource }), value))
    return wrong('the default has fields that are not in the schema; remove them or add them to the schema');
  // The API server does not apply defaults inside defaults before it validates them.
  const problems = validate(value, schema, { path: 'default', isResource });
  if (problems.length === 0) return [];
  return wrong(`the default is not valid: ${describeProblems(problems)}; change it or the schema`);
}

function checkExample(schema: StructuralSchema): SchemaProblem[] {
  if (schema.example === undefined) return [];
  const problems = validate(applyDefaults(schema.example, schema), schema, { path: 'example' });
  if (problems.length === 0) return [];
  const problem = `the example is not valid: ${describeProblems(problems)}; change it or the schema`;
  return [{ code: 'BOWLINE_SCHEMA_INVALID', path: 'example', problem }];
}
