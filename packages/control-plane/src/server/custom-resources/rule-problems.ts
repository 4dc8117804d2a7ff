import type { ValidationRule } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import {
  type CostProblem,
  compileRules,
  costProblems,
  type RuleFault,
  resolveFieldPath,
  type StructuralSchema,
} from '@bowline/machinery/schema';
import { locatedProblem } from '../registry/kinds/shared/located-problem.ts';
import { forbidden, invalid, notSupported, required } from '../registry/kinds/shared/problems.ts';
import { asSchema, below, type SchemaProps } from './schema-props.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** ruleFormProblems returns the problems of a validation rule that are found without compiling it. */
export function ruleFormProblems(rule: ValidationRule, schema: SchemaProps, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const text = rule.rule.trim();
  const message = rule.message ?? '';
  if (text === '') problems.push(required(`${path}.rule`, 'rule is not specified'));
  if (message !== '' && message.trim() === '')
    problems.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  else if (message.trim().includes('\n'))
    problems.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  else if (text.includes('\n') && message.trim() === '')
    problems.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (rule.messageExpression !== undefined && rule.messageExpression !== '' && rule.messageExpression.trim() === '')
    problems.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (rule.reason !== undefined && !REASONS.includes(rule.reason))
    problems.push(notSupported(`${path}.reason`, rule.reason, REASONS));
  if (rule.fieldPath && 'problem' in resolveFieldPath(rule.fieldPath, schema as StructuralSchema))
    problems.push(invalid(`${path}.fieldPath`, rule.fieldPath, 'must be a valid path'));
  return problems;
}

/**
 * ruleProblems returns the problems of the rules of an otherwise valid schema: they are compiled and cached. A rule
 * that is too expensive by itself stays allowed in a schema that does not change.
 */
export function ruleProblems(schema: SchemaProps, path: string, isUnchanged: boolean): FieldProblem[] {
  const { single, together } = costProblems(schema as StructuralSchema, { isUnchanged });
  const placed = (cost: CostProblem): FieldProblem =>
    forbidden(cost.path === '' ? path : `${path}.${cost.path}`, cost.text);
  return [...single.map(placed), ...rulesBelow(schema, path, true, undefined), ...together.map(placed)];
}

/** `list` is the innermost enclosing list whose items have no identity, if any. */
function rulesBelow(schema: SchemaProps, path: string, isRoot: boolean, list: string | undefined): FieldProblem[] {
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const { rules, problems } = compileRules(schema as StructuralSchema, { isResource });
  const found = problems.map((problem) => {
    const index = Number(/\[(\d+)\]$/.exec(problem.path)?.[1] ?? 0);
    return compileProblem(
      problem.fault,
      schema['x-kubernetes-validations']?.[index],
      `${path}.x-kubernetes-validations[${index}]`,
    );
  });
  for (const { rule, index, usesOldSelf } of rules) {
    if (list === undefined || !usesOldSelf) continue;
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${list}`;
    found.push(invalid(`${path}.x-kubernetes-validations[${index}].rule`, rule.rule, why));
  }
  for (const each of below(schema, path)) {
    const isUnordered = each.kind === 'item' && schema['x-kubernetes-list-type'] !== 'map';
    const isOwned = asSchema(schema)?.['x-kubernetes-map-type'] === 'atomic';
    found.push(...rulesBelow(each.schema, each.path, false, list ?? (isUnordered || isOwned ? path : undefined)));
  }
  return found;
}

/** Where a problem without a position is shown. */
const START = { line: 1, column: 1 };

function compileProblem(fault: RuleFault | undefined, rule: ValidationRule | undefined, path: string): FieldProblem {
  const part = fault?.part ?? 'rule';
  if (part === 'optionalOldSelf')
    return invalid(
      `${path}.optionalOldSelf`,
      rule?.optionalOldSelf ?? true,
      'may not be set if oldSelf is not used in rule',
    );
  const source = (part === 'rule' ? rule?.rule : rule?.messageExpression) ?? '';
  const prefix = part === 'rule' ? '' : 'messageExpression ';
  const ofType =
    part === 'rule' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string';
  const why = fault?.isType
    ? ofType
    : `${prefix}compilation failed: ${locatedProblem(fault?.detail ?? '', source, fault?.at ?? START)}`;
  return { ...invalid(`${path}.${part}`, '', ''), message: `Invalid value: ${ruleText(rule)}: ${why}` };
}

/** ruleText returns a rule as the API server shows it: with all of its members, in their order. */
function ruleText(rule: ValidationRule | undefined): string {
  return JSON.stringify({
    Rule: rule?.rule ?? '',
    Message: rule?.message ?? '',
    MessageExpression: rule?.messageExpression ?? '',
    Reason: rule?.reason ?? null,
    FieldPath: rule?.fieldPath ?? '',
    OptionalOldSelf: rule?.optionalOldSelf ?? null,
  });
}
