import { BowlineError } from '../errors/bowline-error.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { AuthorizerValue, type ExpressionAuthorizer } from './authorizer-values.ts';
import { compile, type Program } from './compile.ts';
import { Failed, Frame, MAX_STEPS } from './frame.ts';
import { fromJson, toJson } from './json-values.ts';
import { typeOfSchema } from './schema-types.ts';
import { toValue } from './schema-values.ts';
import { CelSyntaxError } from './syntax-error.ts';
import { type CelType, DYN, formatType, parseType } from './types.ts';
import { CelFailure, type CelValue, LazyValue, MapValue } from './values.ts';

/**
 * VariableDeclaration is the type of a variable: text (`string`, `map<string, string>`, `dyn`) or the schema of its
 * values. The value of an `authorizer` is an `ExpressionAuthorizer`.
 */
export type VariableDeclaration = string | StructuralSchema;

/** ExpressionOptions declares what an expression may use. */
export interface ExpressionOptions {
  /** The variables by name. Defaults to none. */
  readonly variables?: Readonly<Record<string, VariableDeclaration>> | undefined;
  /** Whether expressions may be defined and then read as `variables.<name>`. Defaults to false. */
  readonly hasDefinitions?: boolean | undefined;
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

/** CompiledExpression is an expression of an environment. An activation of that environment evaluates it. */
export interface CompiledExpression {
  readonly source: string;
  /** The type of the result: `string`, `bool`, `list(int)`, `dyn`. */
  readonly type: string;
  /** The number of instructions of all literal patterns together. */
  readonly patternSize: number;
}

/** Compiled is what `compile` returns. */
interface Compiled extends CompiledExpression {
  /** The names of the declared variables, in the order of their slots. */
  readonly names: readonly string[];
  readonly program: Program;
}

/** Activation holds the values of the variables for several evaluations. Each value is converted once, when it is used. */
export interface Activation {
  /**
   * evaluate returns the result as JSON: integers are numbers if they fit, times and durations are text, absent
   * optional values are undefined. It throws `BOWLINE_CEL_EVALUATION`, or `BOWLINE_CEL_BUDGET` if it exceeds its own
   * step limit or the remaining budget.
   */
  evaluate(expression: CompiledExpression, budget?: StepBudget): unknown;
}

interface Declared {
  readonly name: string;
  readonly type: CelType;
  readonly read: (value: unknown) => CelValue | undefined;
}

/** The variable whose fields are the definitions of an environment. */
const DEFINITIONS = 'variables';

/**
 * CelEnvironment compiles expressions that share variables. A definition is a named expression that later ones read as
 * `variables.<name>`; it is evaluated when it is first read, at most once per activation.
 *
 * @example
 * const environment = new CelEnvironment({ variables: { object: 'dyn' }, hasDefinitions: true });
 * environment.define('replicas', 'object.spec.replicas');
 * const rule = environment.compile('variables.replicas <= 5');
 * environment.activate({ object: { spec: { replicas: 3 } } }).evaluate(rule); // true
 */
export class CelEnvironment {
  readonly #declared: readonly Declared[];
  readonly #options: Pick<ExpressionOptions, 'maxPatternSize'> & { readonly hasBind: boolean };
  readonly #maxSteps: number;
  readonly #hasDefinitions: boolean;
  readonly #definitions = new Map<string, Compiled | BowlineError>();
  readonly #definedTypes = new Map<string, CelType>();

  constructor(options: ExpressionOptions = {}) {
    const { variables = {}, hasDefinitions = false, hasBind = true, maxSteps = MAX_STEPS, maxPatternSize } = options;
    this.#hasDefinitions = hasDefinitions;
    // Variables with the same declaration have the same type, and can be compared.
    const types = new Map<VariableDeclaration, Omit<Declared, 'name'>>();
    this.#declared = Object.entries(variables).map(([name, declaration]) => {
      const declared = types.get(declaration) ?? declare(declaration);
      types.set(declaration, declared);
      return { name, ...declared };
    });
    this.#options = { hasBind, maxPatternSize };
    this.#maxSteps = maxSteps;
  }

  /**
   * compile compiles and type-checks an expression. It throws `BOWLINE_CEL_INVALID` with the position in the
   * expression. Variables of the environment can be excluded.
   */
  compile(source: string, options: { readonly without?: readonly string[] } = {}): CompiledExpression {
    return this.#compile(source, options.without);
  }

  #compile(source: string, without: readonly string[] = []): Compiled {
    const declared = this.#declared.filter(({ name }) => !without.includes(name));
    const types = declared.map(({ name, type }) => [name, type] as const);
    const fields = this.#definedTypes;
    if (this.#hasDefinitions) types.push([DEFINITIONS, { kind: 'object', name: 'kubernetes.variables', fields }]);
    const program = compiled(source, types, this.#options);
    const { type, patternSize } = program;
    // The checker's messages name it differently.
    const typeText = type.kind === 'null' ? 'null_type' : formatType(type);
    return { source, type: typeText, patternSize, names: types.map(([name]) => name), program };
  }

  /**
   * define makes the result of an expression available to later ones. An expression that does not compile throws, like
   * in `compile`; later expressions may still name it, and fail when they read it.
   */
  define(name: string, source: string): CompiledExpression {
    try {
      const expression = this.#compile(source);
      this.#definitions.set(name, expression);
      this.#definedTypes.set(name, expression.program.type);
      return expression;
    } catch (error) {
      if (!(error instanceof BowlineError)) throw error;
      this.#definitions.set(name, error);
      this.#definedTypes.set(name, DYN);
      throw error;
    }
  }

  /** activate sets the values of the variables. A variable without a value fails when it is read. */
  activate(values: Readonly<Record<string, unknown>> = {}): Activation {
    const known = new Map<string, CelValue | Failed | undefined>();
    const defaultBudget = (): StepBudget => ({ left: this.#maxSteps });
    let spentOnDefinitions = 0;

    const run = ({ names, program }: Compiled, frame: Frame): CelValue => {
      for (const name of names) frame.slots.push((program.used.has(name) ? read(name) : undefined) as CelValue);
      return program.run(frame);
    };
    const read = (name: string): CelValue | Failed | undefined => {
      if (!known.has(name)) known.set(name, name === DEFINITIONS ? definitions() : this.#read(name, values));
      return known.get(name);
    };
    const definitions = (): MapValue =>
      new MapValue(Array.from(this.#definitions, ([name, each]) => [name, new LazyValue(() => define(name, each))]));
    const define = (name: string, definition: Compiled | BowlineError): CelValue => {
      const quoted = JSON.stringify(name);
      if (definition instanceof BowlineError)
        throw new CelFailure(`composited variable ${quoted} fails to compile: ${definition.message}`);
      const frame = new Frame([], this.#maxSteps);
      try {
        return run(definition, frame);
      } catch (error) {
        if (!(error instanceof CelFailure)) throw error;
        throw new CelFailure(`composited variable ${quoted} fails to evaluate: ${error.message}`);
      } finally {
        spentOnDefinitions += frame.spent;
      }
    };

    return {
      evaluate: (expression, budget = defaultBudget()) => {
        const frame = new Frame([], Math.min(this.#maxSteps, budget.left));
        const spentBefore = spentOnDefinitions;
        try {
          return toJson(run(expression as Compiled, frame));
        } catch (cause) {
          if (!(cause instanceof CelFailure)) throw cause;
          const message = `cannot evaluate ${shortened(expression.source)}: ${cause.message}`;
          throw new BowlineError('BOWLINE_CEL_EVALUATION', message, { cause });
        } finally {
          budget.left -= frame.spent + spentOnDefinitions - spentBefore;
        }
      },
    };
  }

  #read(name: string, values: Readonly<Record<string, unknown>>): CelValue | Failed | undefined {
    const declared = this.#declared.find((each) => each.name === name);
    try {
      return declared?.read(Object.hasOwn(values, name) ? values[name] : undefined);
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error;
      return new Failed(error);
    }
  }
}

function compiled(
  source: string,
  types: Parameters<typeof compile>[1],
  options: Parameters<typeof compile>[2],
): Program {
  try {
    return compile(source, types, options);
  } catch (cause) {
    if (!(cause instanceof CelSyntaxError)) throw cause;
    const message = `the expression ${shortened(source)} is not valid: ${cause.message}`;
    throw new BowlineError('BOWLINE_CEL_INVALID', message, { cause });
  }
}

function declare(declaration: VariableDeclaration): Omit<Declared, 'name'> {
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
