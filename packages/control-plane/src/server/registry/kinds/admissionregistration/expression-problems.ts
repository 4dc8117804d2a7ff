import { BowlineError, type FieldProblem } from '@bowline/machinery';
import type { CelSyntaxError, CompiledExpression } from '@bowline/machinery/cel';
import { locatedProblem } from '../shared/located-problem.ts';
import { invalid } from '../shared/problems.ts';

/** ANY_TYPE allows results of every type. */
export const ANY_TYPE = 'any';

/**
 * expressionProblems validates an expression by compiling it: its result must have one of the types. The problem shows
 * `value`.
 */
export function expressionProblems(
  field: string,
  value: string,
  types: readonly string[] | typeof ANY_TYPE,
  compile: () => Pick<CompiledExpression, 'type'>,
): FieldProblem[] {
  try {
    const { type } = compile();
    if (types === ANY_TYPE || types.includes(type)) return [];
    const expected = types.length === 1 ? types[0] : `one of [${types.join(' ')}]`;
    return [invalid(field, value, `must evaluate to ${expected} but got ${type}`)];
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    return [invalid(field, value, `compilation failed: ${syntaxProblem(error)}`)];
  }
}

/** syntaxProblem describes why an expression does not compile. */
export function syntaxProblem(error: BowlineError): string {
  const { problem, line, column, source } = error.cause as CelSyntaxError;
  return locatedProblem(problem, source, { line, column });
}
