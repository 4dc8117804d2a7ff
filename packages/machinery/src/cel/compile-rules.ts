import type { RuleFault, SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema, ValidationRule } from '../structural-schema/structural-schema.ts';
import { type Checked, compileChecked, type Declarations, type Program } from './compile.ts';
import { type CostEstimate, estimateCost } from './cost/estimate-cost.ts';
import { type SizedType, sizedType } from './cost/sized-type.ts';
import { resolveFieldPath } from './field-path.ts';
import { typeOfSchema } from './schema-types.ts';
import { CelSyntaxError } from './syntax-error.ts';
import { type CelType, formatType, optionalOf } from './types.ts';

/** CompiledRule is a validation rule that is ready to be evaluated. Its programs take `self` and `oldSelf`. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  readonly usesOldSelf: boolean;
  /** The index among the rules of the same level. */
  readonly index: number;
  /** cost estimates the cost of evaluating the rule once. */
  readonly cost: () => CostEstimate;
  /** messageCost estimates the cost of evaluating the messageExpression; undefined if there is none. */
  readonly messageCost: (() => CostEstimate) | undefined;
  /** The path at which the rule's problems are reported, relative to the value; empty for the value itself. */
  readonly path: string;
}

/** CompiledRules holds the rules of one level of a schema, and the problems of those that do not compile. */
export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  readonly problems: readonly SchemaProblem[];
}

const NO_RULES: CompiledRules = { rules: [], problems: [] };
const compiledValues = new WeakMap<StructuralSchema, CompiledRules>();
const compiledResources = new WeakMap<StructuralSchema, CompiledRules>();

/**
 * compileRules compiles and type-checks the rules of one level of a schema. The result is cached for the lifetime of
 * the schema.
 */
export function compileRules(schema: StructuralSchema, options: { readonly isResource: boolean }): CompiledRules {
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined || rules.length === 0) return NO_RULES;
  const cache = options.isResource ? compiledResources : compiledValues;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const compiled = compileAll(rules, schema, options);
  cache.set(schema, compiled);
  return compiled;
}

function compileAll(
  rules: readonly ValidationRule[],
  schema: StructuralSchema,
  options: { readonly isResource: boolean },
): CompiledRules {
  const self = typeOfSchema(schema, options);
  const size = sizedType(schema, options);
  const compiled: CompiledRule[] = [];
  const problems: SchemaProblem[] = [];
  for (const [index, rule] of rules.entries()) {
    const refuse = (fault: RuleFault, cause: unknown): void => {
      const problem = cause instanceof Error ? cause.message : String(cause);
      problems.push({
        code: 'BOWLINE_SCHEMA_RULE',
        path: `x-kubernetes-validations[${index}]`,
        problem: `the rule ${JSON.stringify(rule.rule)}: ${problem}; correct the rule or the schema that it reads`,
        cause,
        fault,
      });
    };
    try {
      if (self === undefined || size === undefined)
        throw new Error('rules cannot read values without a schema; move the rule to the enclosing object');
      compiled.push(compileOne(rule, index, { schema, self, size, refuse }));
    } catch (cause) {
      refuse(cause instanceof RuleError ? cause.fault : faultOf('rule', cause), cause);
    }
  }
  return { rules: compiled, problems };
}

function faultOf(part: RuleFault['part'], cause: unknown): RuleFault {
  if (!(cause instanceof CelSyntaxError))
    return { part, isType: false, detail: cause instanceof Error ? cause.message : String(cause) };
  return { part, isType: false, detail: cause.problem, at: { line: cause.line, column: cause.column } };
}

/** RuleError reports a rule that compiles but violates a requirement for rules, or whose message does. */
class RuleError extends Error {
  readonly fault: RuleFault;

  constructor(message: string, fault: RuleFault, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Level is a level of a schema that has rules. */
interface Level {
  readonly schema: StructuralSchema;
  readonly self: CelType;
  readonly size: SizedType;
  /** refuse reports a problem of a rule that compiles. */
  readonly refuse: (fault: RuleFault, cause: unknown) => void;
}

function compileOne(rule: ValidationRule, index: number, { schema, self, size, refuse }: Level): CompiledRule {
  const variables: Declarations = [
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ];
  const { program, checked } = compileChecked(rule.rule, variables, { hasBind: false });
  if (program.type.kind !== 'bool') {
    const detail = `is of type ${formatType(program.type)}; it must be a bool`;
    throw new RuleError(detail, { part: 'rule', isType: true, detail });
  }
  const usesOldSelf = program.used.has('oldSelf');
  if (rule.optionalOldSelf !== undefined && !usesOldSelf) {
    const fault = { part: 'optionalOldSelf', isType: false, detail: 'does not use oldSelf' } as const;
    refuse(fault, new RuleError('sets optionalOldSelf but does not use oldSelf; remove optionalOldSelf', fault));
  }
  const path = rule.fieldPath === undefined ? undefined : resolveFieldPath(rule.fieldPath, schema);
  const message = compileMessage(rule.messageExpression, variables, refuse);
  return {
    rule,
    index,
    program,
    message: message?.program,
    usesOldSelf,
    cost: estimated(checked, size),
    messageCost: message === undefined ? undefined : estimated(message.checked, size),
    path: path !== undefined && 'path' in path ? path.path : '',
  };
}

const NO_COST: CostEstimate = { cost: 0, unbounded: new Map() };

/** The cost of most rules is never needed: schemas are built step by step, and each step compiles the rules again. */
function estimated(checked: Checked, size: SizedType): () => CostEstimate {
  let pending: Checked | undefined = checked;
  let known: CostEstimate = NO_COST;
  return () => {
    if (pending !== undefined) known = estimateCost(pending, size);
    pending = undefined;
    return known;
  };
}

function compileMessage(
  source: string | undefined,
  variables: Declarations,
  refuse: Level['refuse'],
): ReturnType<typeof compileChecked> | undefined {
  if (source === undefined || source === '') return undefined;
  const wrong = (detail: string, fault: RuleFault, cause?: unknown): undefined => {
    refuse(fault, new RuleError(`its messageExpression ${JSON.stringify(source)}: ${detail}`, fault, { cause }));
  };
  try {
    const compiled = compileChecked(source, variables, { hasBind: false });
    if (compiled.program.type.kind === 'string') return compiled;
    const detail = `is of type ${formatType(compiled.program.type)}; it must be a string`;
    return wrong(detail, { part: 'messageExpression', isType: true, detail });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return wrong(detail, faultOf('messageExpression', cause), cause);
  }
}

const schemasWithRules = new WeakMap<StructuralSchema, boolean>();

/** hasRules reports whether a schema has validation rules at any level. */
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
