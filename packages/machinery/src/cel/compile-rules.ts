import type { SchemaProblem } from '../schema/schema-problem.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';

export function compileRules(
  _schema: StructuralSchema,
  _options: { isResource: boolean },
): { problems: SchemaProblem[] } {
  return { problems: [] };
}
