import type { MatchCondition } from '@bowline/kubernetes';
import { type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, invalids, required, tooMany } from '../shared/problems.ts';
import { expressionProblems } from './expression-problems.ts';
import { policyEnvironment } from './policy-environment.ts';

type Condition = PartialObject<MatchCondition>;

const MAX_CONDITIONS = 64;

/** MatchConditionOptions configures matchConditionProblems. */
export interface MatchConditionOptions {
  /** Whether the expressions may use `params`. */
  readonly hasParams?: boolean;
  /** Expressions that are stored already, and are not validated again. */
  readonly alreadyValidated?: ReadonlySet<unknown>;
}

/** matchConditionProblems validates the match conditions of a webhook or policy. */
export function matchConditionProblems(
  field: string,
  conditions: readonly Condition[],
  { hasParams = false, alreadyValidated = new Set() }: MatchConditionOptions,
): FieldProblem[] {
  if (conditions.length > MAX_CONDITIONS) return [tooMany(field, conditions.length, MAX_CONDITIONS)];
  const names = new Set<string>();
  return conditions.flatMap(({ name = '', expression = '' }, index) => {
    const at = `${field}[${index}]`;
    const problems: FieldProblem[] = [];
    const source = expression.trim();
    if (source === '') problems.push(required(`${at}.expression`));
    else if (!alreadyValidated.has(expression))
      problems.push(...expressionProblems(`${at}.expression`, source, ['bool'], () => compile(source, hasParams)));
    if (name === '') problems.push(required(`${at}.name`));
    else {
      problems.push(...invalids(`${at}.name`, name, labelKeyProblems(name)));
      if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    return problems;
  });
}

function compile(source: string, hasParams: boolean): { readonly type: string } {
  return policyEnvironment({ params: hasParams ? 'dyn' : undefined }).compile(source);
}
