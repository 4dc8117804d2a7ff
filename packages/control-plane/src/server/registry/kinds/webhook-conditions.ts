import { BowlineError, type FieldProblem } from '@bowline/machinery';
import type { Loose } from './loose.ts';
import { invalid } from './problems.ts';

type Compile = typeof import('@bowline/machinery/cel')['compileExpression'];

let compile: Compile | undefined;

/** loadConditionCompiler loads the CEL engine, which is large: few configurations have conditions. */
export async function loadConditionCompiler(): Promise<void> {
  compile ??= (await import('@bowline/machinery/cel')).compileExpression;
}

/** expressionProblems is what is wrong with the expression of a condition; the compiler must be loaded. */
export function expressionProblems(field: string, expression: Loose<string>): FieldProblem[] {
  if (!compile) throw new TypeError('conditions are judged before their compiler is loaded');
  const source = expression.trim();
  try {
    const variables = { request: 'dyn', object: 'dyn', oldObject: 'dyn' };
    const { type } = compile(source, { variables, hasBind: false });
    return type === 'bool' ? [] : [invalid(field, source, `must evaluate to bool but got ${type}`)];
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    return [invalid(field, source, `compilation failed: ERROR: ${why}`)];
  }
}
