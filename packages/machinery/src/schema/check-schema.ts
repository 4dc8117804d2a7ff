import { compileRules } from '../cel/compile-rules.ts';
import { appendPath, type SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { checkDefault } from './admit-schema.ts';
import { checkCost } from './check-cost.ts';
import { checkCompleteness } from './check-nested.ts';
import { checkOldSelf } from './check-old-self.ts';
import { checkStructure, forEachSchema } from './check-structure.ts';

/** CheckSchemaOptions describes the values of a schema. */
export interface CheckSchemaOptions {
  /**
   * Whether the schema describes whole objects, so that its root rules may read apiVersion, kind and metadata.name.
   * Defaults to false.
   */
  readonly isResource?: boolean | undefined;
}

/** checkSchema returns every reason for which the API server would reject a schema that was not built with `s`. */
export function checkSchema(schema: StructuralSchema, options: CheckSchemaOptions = {}): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const structural: SchemaProblem[] = [];
  forEachSchema(schema, '', (each, path) =>
    structural.push(...checkStructure(each).map((problem) => placed(problem, path))),
  );
  structural.push(...checkCompleteness(schema));
  // In an invalid schema, problems of rules and defaults would only add noise.
  if (structural.length > 0) return structural;
  forEachSchema(schema, '', (each, path) => {
    const isResource =
      each['x-kubernetes-embedded-resource'] === true || (options.isResource === true && each === schema);
    // The API server does not check the defaults of map values.
    const defaults = path.includes('additionalProperties') ? [] : checkDefault(each);
    const found = [...compileRules(each, { isResource }).problems, ...checkOldSelf(each), ...defaults];
    problems.push(...found.map((problem) => placed(problem, path)));
  });
  return [...problems, ...checkCost(schema, { isResource: options.isResource === true })];
}

function placed(problem: SchemaProblem, path: string): SchemaProblem {
  return { ...problem, path: problem.path === '' ? path : appendPath(path, problem.path) };
}
