import { BowlineError } from '../errors/bowline-error.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { AuthorizerValue, type ExpressionAuthorizer } from './authorizer-values.ts';
import { compile, type Program } from './compile.ts';
import { Frame, MAX_STEPS } from './frame.ts';
import { fromJson, toJson } from './json-values.ts';
import { typeOfSchema } from './schema-types.ts';
import { toValue } from './schema-values.ts';
import { CelSyntaxError } from './syntax-error.ts';
import { type CelType, DYN, formatType, parseType } from './types.ts';
import { CelFailure, type CelValue } from './values.ts';

/**
 * VariableDeclaration is the type of a variable: text (`string`, `map<string, string>`, `dyn`) or the schema of its
 * values. The value of an `authorizer` is an `ExpressionAuthorizer`.
 */
export type VariableDeclaration = string | StructuralSchema;

/** ExpressionOptions declares what an expression may use. */
export interface ExpressionOptions {
  /** The variables by name. Defaults to none. */
  readonly variables?: Readonly<Record<string, VariableDeclaration>> | undefined;
  /** Whether `cel.bind` may be used, which the API server does not support. Defaults to true. */
  readonly hasBind?: boolean | undefined;
  /** The maximum number of steps of one evaluation. Defaults to a million. */
  readonly maxSteps?: number | undefined;
  /** The maximum number of instructions of all literal patterns together. Defaults to no limit. */
  readonly maxPatternSize?: number | undefined;
}

/**
 * StepBudget is the number of steps that several evaluations may still take together. Each evaluation subtracts its own
 * steps.
 */
export interface StepBudget {
  left: number;
}

/** Expression is a compiled CEL expression. */
export interface Expression {
  readonly source: string;
  /** The type of the result: `string`, `bool`, `list(int)`, `dyn`. */
  readonly type: string;
  /** The number of instructions of all literal patterns together. */
  readonly patternSize: number;
  /**
   * evaluate returns the result as JSON: integers are numbers if they fit, times and durations are text, absent
   * optional values are undefined. It throws `BOWLINE_CEL_EVALUATION`, or `BOWLINE_CEL_BUDGET` if it exceeds its own
   * step limit or the remaining budget.
   */
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
  const declared = Object.entries(options.variables ?? {}).map(([name, declaration]) => ({
    name,
    ...declare(declaration),
  }));
  const { maxSteps = MAX_STEPS, hasBind = true } = options;
  const program = compiled(source, declared, { hasBind, maxPatternSize: options.maxPatternSize });
  return {
    source,
    type: formatType(program.type),
    patternSize: program.patternSize,
    evaluate(values = {}, budget = { left: maxSteps }) {
      const frame = new Frame([], Math.min(maxSteps, budget.left));
      try {
        const slots = declared.map(({ name, read }) => read(Object.hasOwn(values, name) ? values[name] : undefined));
        frame.slots.push(...(slots as CelValue[]));
        return toJson(program.run(frame));
      } catch (cause) {
        if (!(cause instanceof CelFailure)) throw cause;
        throw new BowlineError('BOWLINE_CEL_EVALUATION', `cannot evaluate ${shortened(source)}: ${cause.message}`, {
          cause,
        });
      } finally {
        budget.left -= frame.spent;
      }
    },
  };
}

function compiled(
  source: string,
  declared: readonly { name: string; type: CelType }[],
  options: Parameters<typeof compile>[2],
): Program {
  try {
    return compile(
      source,
      declared.map(({ name, type }) => [name, type] as const),
      options,
    );
  } catch (cause) {
    if (!(cause instanceof CelSyntaxError)) throw cause;
    throw new BowlineError(
      'BOWLINE_CEL_INVALID',
      `the expression ${shortened(source)} is not valid: ${cause.message}`,
      { cause },
    );
  }
}

interface Declared {
  readonly type: CelType;
  readonly read: (value: unknown) => CelValue | undefined;
}

function declare(declaration: VariableDeclaration): Declared {
  if (typeof declaration === 'string') {
    const type = parseType(declaration);
    if (type.kind === 'authorizer') {
      // The only variable type whose value is not data.
      return { type, read: (value) => (value ? new AuthorizerValue(value as ExpressionAuthorizer) : undefined) };
    }
    return { type, read: (value) => (value === undefined ? undefined : fromJson(value, type)) };
  }
  const isResource = declaration['x-kubernetes-embedded-resource'] === true;
  const type = typeOfSchema(declaration, { isResource }) ?? DYN;
  return { type, read: (value) => (value === undefined ? undefined : toValue(value, declaration)) };
}

const MAX_QUOTE_LENGTH = 200;

function shortened(source: string): string {
  return JSON.stringify(source.length > MAX_QUOTE_LENGTH ? `${source.slice(0, MAX_QUOTE_LENGTH)}…` : source);
}
