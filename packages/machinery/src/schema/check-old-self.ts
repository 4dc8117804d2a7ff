import { compileRules } from '../cel/compile-rules.ts';
import { appendPath, type SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { forEachSchema } from './check-structure.ts';

/**
 * checkOldSelf returns rules that use oldSelf where there is no old value: only the items of a list-map have an
 * identity. It is called for objects, because a list becomes a list-map after it was built.
 */
export function checkOldSelf(schema: StructuralSchema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const [name, field] of Object.entries(schema.properties ?? {})) inLists(field, `properties[${name}]`, problems);
  if (typeof schema.additionalProperties === 'object')
    inLists(schema.additionalProperties, 'additionalProperties', problems);
  return problems;
}

function inLists(schema: StructuralSchema, path: string, problems: SchemaProblem[]): void {
  const { items } = schema;
  if (schema.type !== 'array' || items === undefined) return;
  const at = appendPath(path, 'items');
  // Objects inside have been checked already.
  if (schema['x-kubernetes-list-type'] === 'map') return;
  forEachSchema(items, at, (each, where) => {
    const isResource = each['x-kubernetes-embedded-resource'] === true;
    for (const { rule, usesOldSelf } of compileRules(each, { isResource }).rules) {
      if (!usesOldSelf) continue;
      const problem = `the rule ${JSON.stringify(rule.rule)} uses oldSelf, but the items of ${path} have no identity; use listMapBy, or put the rule on the list`;
      problems.push({ code: 'BOWLINE_SCHEMA_RULE', path: where, problem });
    }
  });
}
