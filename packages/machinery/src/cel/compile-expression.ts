import { CelEnvironment, type CompiledExpression, type ExpressionOptions, type StepBudget } from './environment.ts';

/** Expression is a compiled CEL expression. */
export interface Expression extends Pick<CompiledExpression, 'source' | 'type' | 'patternSize'> {
  /** evaluate is that of an `Activation` with these values. */
  evaluate(values?: Readonly<Record<string, unknown>>, budget?: StepBudget): unknown;
}

/**
 * compileExpression compiles and type-checks a CEL expression with the functions of the Kubernetes libraries and
 * `cel.bind`. It throws `BOWLINE_CEL_INVALID` with the position in the expression.
 *
 * @example
 * const greeting = compileExpression("'hello ' + data.name", { variables: { data: 'map<string, string>' } });
 * greeting.evaluate({ data: { name: 'world' } }); // 'hello world'
 */
export function compileExpression(source: string, options: ExpressionOptions = {}): Expression {
  const environment = new CelEnvironment(options);
  const compiled = environment.compile(source);
  const { type, patternSize } = compiled;
  return {
    source,
    type,
    patternSize,
    evaluate: (values, budget) => environment.activate(values).evaluate(compiled, budget),
  };
}
