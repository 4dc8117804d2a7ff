import type { RuleFault, SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema, ValidationRule } from '../structural-schema/structural-schema.ts';
import { compile, type Program } from './compile.ts';
import { resolveFieldPath } from './field-path.ts';
import { typeOfSchema } from './schema-types.ts';
import { CelSyntaxError } from './syntax-error.ts';
import { type CelType, formatType, optionalOf } from './types.ts';

/** CompiledRule is a validation rule ready to be evaluated. Its programs take `self` and `oldSelf`. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  readonly usesOldSelf: boolean;
  /** The path that the rule's problems are reported at, below the value; empty for the value itself. */
  readonly path: string;
}

/** CompiledRules are the rules of one level of a schema, and what is wrong with those that do not compile. */
export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  readonly problems: readonly SchemaProblem[];
}

const NO_RULES: CompiledRules = { rules: [], problems: [] };
const compiledValues = new WeakMap<StructuralSchema, CompiledRules>();
const compiledResources = new WeakMap<StructuralSchema, CompiledRules>();

/** compileRules compiles and type-checks the rules of one level of a schema. The result is kept as long as the schema. */
export function compileRules(schema: StructuralSchema, options: { readonly isResource: boolean }): CompiledRules {
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined || rules.length === 0) return NO_RULES;
  const cache = options.isResource ? compiledResources : compiledValues;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const compiled = compileAll(rules, schema, typeOfSchema(schema, options));
  cache.set(schema, compiled);
  return compiled;
}

function compileAll(
  rules: readonly ValidationRule[],
  schema: StructuralSchema,
  self: CelType | undefined,
): CompiledRules {
  const compiled: CompiledRule[] = [];
  const problems: SchemaProblem[] = [];
  for (const [index, rule] of rules.entries()) {
    try {
      if (self === undefined)
        throw new Error('rules cannot read values without a schema; put the rule on the object around it');
      compiled.push(compileOne(rule, schema, self));
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      const path = `x-kubernetes-validations[${index}]`;
      problems.push({
        code: 'BOWLINE_SCHEMA_RULE',
        path,
        problem: `the rule ${JSON.stringify(rule.rule)}: ${problem}; correct the rule, or the schema that it reads`,
        cause,
        fault: cause instanceof RuleError ? cause.fault : faultOf('rule', cause),
      });
    }
  }
  return { rules: compiled, problems };
}

function faultOf(part: RuleFault['part'], cause: unknown): RuleFault {
  if (!(cause instanceof CelSyntaxError))
    return { part, isType: false, detail: cause instanceof Error ? cause.message : String(cause) };
  return { part, isType: false, detail: cause.problem, at: { line: cause.line, column: cause.column } };
}

/** RuleError is a rule that compiles but is not what a rule must be, or whose message is not. */
class RuleError extends Error {
  readonly fault: RuleFault;

  constructor(message: string, fault: RuleFault, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

function compileOne(rule: ValidationRule, schema: StructuralSchema, self: CelType): CompiledRule {
  const variables = [
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ] as const;
  const program = compile(rule.rule, variables, { hasBind: false });
  if (program.type.kind !== 'bool') {
    const detail = `is of type ${formatType(program.type)}; it must be true or false`;
    throw new RuleError(detail, { part: 'rule', isType: true, detail });
  }
  const usesOldSelf = program.used.has('oldSelf');
  if (rule.optionalOldSelf !== undefined && !usesOldSelf)
    throw new RuleError('sets optionalOldSelf but does not use oldSelf; leave it out', {
      part: 'optionalOldSelf',
      isType: false,
      detail: 'does not use oldSelf',
    });
  const path = rule.fieldPath === undefined ? undefined : resolveFieldPath(rule.fieldPath, schema);
  return {
    rule,
    program,
    message: rule.messageExpression === undefined ? undefined : compileMessage(rule.messageExpression, variables),
    usesOldSelf,
    path: path !== undefined && 'path' in path ? path.path : '',
  };
}

function compileMessage(source: string, variables: readonly (readonly [string, CelType])[]): Program {
  const wrong = (detail: string, fault: RuleFault, cause?: unknown): RuleError =>
    new RuleError(`its messageExpression ${JSON.stringify(source)}: ${detail}`, fault, { cause });
  let program: Program;
  try {
    program = compile(source, variables, { hasBind: false });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw wrong(detail, faultOf('messageExpression', cause), cause);
  }
  if (program.type.kind !== 'string') {
    const detail = `is of type ${formatType(program.type)}; it must be text`;
    throw wrong(detail, { part: 'messageExpression', isType: true, detail });
  }
  return program;
}

const schemasWithRules = new WeakMap<StructuralSchema, boolean>();

/** hasRules tells whether a schema has validation rules anywhere. */
export function hasRules(schema: StructuralSchema): boolean {
  const known = schemasWithRules.get(schema);
  if (known !== undefined) return known;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  const found = (schema['x-kubernetes-validations'] ?? []).length > 0 || children.some(hasRules);
  schemasWithRules.set(schema, found);
  return found;
}
