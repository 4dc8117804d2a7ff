import type { Correlation } from '../schema/correlation.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import type { FieldProblem } from '../validation/field-problem.ts';

/** RuleContext is what rules are checked against beside the value. */
export interface RuleContext {
  readonly old: unknown;
  readonly paired: Correlation | undefined;
  readonly path: string;
  readonly isResource: boolean;
}

export function hasRules(_schema: StructuralSchema): boolean {
  return false;
}

export function checkRules(_value: unknown, _schema: StructuralSchema, _context: RuleContext): FieldProblem[] {
  return [];
}
