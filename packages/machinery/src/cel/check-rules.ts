import { formatValue, quoteText } from '../json/go-text.ts';
import { isObject, member } from '../json/json.ts';
import { type Correlation, itemKey, itemsByKey, listMapKeys } from '../structural-schema/correlation.ts';
import {
  additionalSchema,
  ownSchema,
  type StructuralSchema,
  type ValidationRule,
} from '../structural-schema/structural-schema.ts';
import type { FieldProblem } from '../validation/field-problem.ts';
import type { Program } from './compile.ts';
import { type CompiledRule, compileRules, hasRules } from './compile-rules.ts';
import { CelBudgetError, Frame, MAX_STEPS } from './frame.ts';
import { asResource, toValue } from './schema-values.ts';
import { CelFailure, type CelValue, NONE, OptionalValue } from './values.ts';

/** RuleContext holds the inputs of rules besides the value. */
export interface RuleContext {
  /** The value before the update; undefined for a create. */
  readonly old: unknown;
  /** Pairs the value with the old one; problems of unchanged parts are ignored. */
  readonly paired: Correlation | undefined;
  readonly path: string;
  readonly isResource: boolean;
}

// Ten times the budget of one rule; the API server uses the same ratio for all rules of a request.
const MAX_TOTAL_STEPS = 10 * MAX_STEPS;

interface Run {
  steps: number;
  readonly problems: FieldProblem[];
  isOver: boolean;
}

/** Pairing holds the correlation of a value with the value that it replaces, for rules that do not use oldSelf. */
interface Pairing {
  readonly current: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

/** checkRules evaluates the validation rules of a schema for a value that is otherwise valid. */
export function checkRules(value: unknown, schema: StructuralSchema, context: RuleContext): FieldProblem[] {
  const run: Run = { steps: MAX_TOTAL_STEPS, problems: [], isOver: false };
  const pairing = { current: context.paired, parent: undefined };
  visit(run, value, context.old, schema, context.path, pairing, context.isResource);
  return run.problems;
}

function visit(
  run: Run,
  value: unknown,
  old: unknown,
  schema: StructuralSchema,
  path: string,
  pairing: Pairing,
  isResource: boolean,
): void {
  if (run.isOver || value === null || value === undefined || !hasRules(schema)) return;
  const before = old === null ? undefined : old;
  for (const rule of compileRules(schema, { isResource }).rules) {
    if (run.isOver) return;
    checkRule(run, rule, value, before, isResource ? asResource(schema) : schema, path, pairing);
  }
  if (Array.isArray(value)) visitList(run, value, before, schema, path, pairing);
  else if (isObject(value)) visitObject(run, value, before, schema, path, pairing);
}

function visitObject(
  run: Run,
  value: { readonly [key: string]: unknown },
  old: unknown,
  schema: StructuralSchema,
  path: string,
  pairing: Pairing,
): void {
  const additional = additionalSchema(schema);
  for (const key of Object.keys(value)) {
    const own = ownSchema(schema.properties, key);
    const inner = own ?? additional;
    if (inner === undefined) continue;
    const at = own === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const isEmbedded = inner['x-kubernetes-embedded-resource'] === true;
    visit(
      run,
      value[key],
      isObject(old) ? member(old, key) : undefined,
      inner,
      at,
      childPairing(pairing, key),
      isEmbedded,
    );
  }
}

function visitList(
  run: Run,
  items: readonly unknown[],
  old: unknown,
  schema: StructuralSchema,
  path: string,
  pairing: Pairing,
): void {
  const inner = schema.items;
  if (inner === undefined) return;
  const keys = listMapKeys(schema);
  const oldItems = keys !== undefined && Array.isArray(old) ? itemsByKey(old, keys) : undefined;
  const isEmbedded = inner['x-kubernetes-embedded-resource'] === true;
  for (const [index, item] of items.entries()) {
    const key = keys === undefined ? undefined : itemKey(item, keys);
    const before = key === undefined ? undefined : oldItems?.get(key);
    visit(run, item, before, inner, `${path}[${index}]`, childPairing(pairing, index), isEmbedded);
  }
}

function childPairing(pairing: Pairing, step: string | number): Pairing {
  const { current, parent } = pairing;
  if (current === undefined) return pairing;
  if (parent === undefined && (step === 'apiVersion' || step === 'kind'))
    return { current: undefined, parent: undefined };
  return { current: typeof step === 'number' ? current.index(step) : current.key(step), parent: current };
}

function checkRule(
  run: Run,
  compiled: CompiledRule,
  value: unknown,
  old: unknown,
  schema: StructuralSchema,
  path: string,
  pairing: Pairing,
): void {
  const { rule, usesOldSelf } = compiled;
  const isOptional = rule.optionalOldSelf === true;
  if (usesOldSelf && old === undefined && !isOptional) return;
  if (run.steps <= 0) {
    run.isOver = true;
    run.problems.push(
      evaluationProblem(
        path,
        schema,
        'validation failed due to running out of cost budget, no further validation rules will be run',
      ),
    );
    return;
  }
  const steps = Math.min(run.steps, MAX_STEPS);
  const frame = new Frame([], steps);
  try {
    const self = toValue(value, schema);
    const before = old === undefined || !usesOldSelf ? undefined : toValue(old, schema);
    const outcome = evaluate(compiled.program, frame, self, isOptional ? toOptional(before) : before);
    if (outcome === true) return;
    if (!usesOldSelf && (pairing.current ?? pairing.parent)?.isUnchanged === true) return;
    run.problems.push(ruleViolation(compiled, schema, path, value, messageOf(compiled, frame, self, before)));
  } catch (error) {
    if (error instanceof CelFailure) run.problems.push(evaluationProblem(path, schema, failureText(error, rule)));
    else if (error instanceof CelBudgetError) {
      run.isOver = true;
      const text = `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`;
      run.problems.push(evaluationProblem(path, schema, text));
    } else throw error;
  } finally {
    run.steps -= frame.spent;
  }
}

function toOptional(value: CelValue | undefined): OptionalValue {
  return value === undefined ? NONE : new OptionalValue(value);
}

function evaluate(program: Program, frame: Frame, self: CelValue, old: CelValue | undefined): CelValue {
  frame.slots[0] = self;
  if (old !== undefined) frame.slots[1] = old;
  return program.run(frame);
}

const MAX_MESSAGE_BYTES = 5_120;

/**
 * Returns the message of a rule: the result of its messageExpression, or the fixed message if that fails or is
 * unusable.
 */
function messageOf(compiled: CompiledRule, frame: Frame, self: CelValue, old: CelValue | undefined): string {
  const { message, rule } = compiled;
  const fixed =
    rule.message === undefined || rule.message === '' ? `failed rule: ${ruleText(rule)}` : rule.message.trim();
  if (message === undefined) return fixed;
  try {
    const evaluated = evaluate(message, frame, self, old);
    const text = typeof evaluated === 'string' ? evaluated.trim() : '';
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? fixed : text;
  } catch (error) {
    if (error instanceof CelFailure) return fixed;
    throw error;
  }
}

function ruleText(rule: ValidationRule): string {
  return (rule.message === undefined || rule.message === '' ? rule.rule : rule.message).trim();
}

function failureText(error: CelFailure, rule: ValidationRule): string {
  if (error.message.startsWith('no such overload'))
    return `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`;
  return `${error.message} evaluating rule: ${ruleText(rule)}`;
}

function evaluationProblem(path: string, schema: StructuralSchema, text: string): FieldProblem {
  return {
    field: fieldOf(path),
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${quoteText(schema.type ?? '')}: ${text}`,
  };
}

function ruleViolation(
  compiled: CompiledRule,
  schema: StructuralSchema,
  path: string,
  value: unknown,
  text: string,
): FieldProblem {
  const field = fieldOf([path, compiled.path].filter((part) => part !== '').join('.'));
  // Objects and lists are left out: they would make the message too long.
  const isLarge = schema.type === 'object' || schema.type === 'array';
  const formattedValue = isLarge ? '' : `: ${formatValue(value)}`;
  switch (compiled.rule.reason) {
    case 'FieldValueRequired':
      return { field, reason: 'FieldValueRequired', message: `Required value: ${text}` };
    case 'FieldValueForbidden':
      return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${text}` };
    case 'FieldValueDuplicate':
      return { field, reason: 'FieldValueDuplicate', message: `Duplicate value${formattedValue}` };
    default:
      return { field, reason: 'FieldValueInvalid', message: `Invalid value${formattedValue}: ${text}` };
  }
}

function fieldOf(path: string): string {
  return path === '' ? '<nil>' : path;
}
