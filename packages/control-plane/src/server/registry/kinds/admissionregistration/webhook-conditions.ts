import { BowlineError, type FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid } from '../shared/problems.ts';

let engine: typeof import('@bowline/machinery/cel') | undefined;

/** loadConditionCompiler loads the CEL engine on demand: it is large, and few configurations have conditions. */
export async function loadConditionCompiler(): Promise<void> {
  engine ??= await import('@bowline/machinery/cel');
}

/** expressionProblems validates the expression of a condition; the compiler must be loaded. */
export function expressionProblems(field: string, expression: PartialObject<string>): FieldProblem[] {
  if (!engine) throw new TypeError('the match condition compiler is not loaded');
  const source = expression.trim();
  try {
    const { type } = engine.compileExpression(source, { variables: engine.admissionVariables, hasBind: false });
    return type === 'bool' ? [] : [invalid(field, source, `must evaluate to bool but got ${type}`)];
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    return [invalid(field, source, `compilation failed: ERROR: ${why}`)];
  }
}
