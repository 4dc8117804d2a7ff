import type { LabelSelector } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import {
  describeProblems,
  type FieldProblem,
  forbiddenValue,
  invalidValue,
  requiredValue,
} from '../validation/field-problem.ts';
import { type LabelOperator, type LabelRequirement, labelSelectorOf } from './label-requirement.ts';
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';
import { parseLabelSelector } from './parse-label-selector.ts';
import { byText, type Selector } from './selector.ts';

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * labelSelector compiles a selector in either form, text or `metav1.LabelSelector`. An empty selector selects
 * everything. An absent selector means everything for a list and nothing for a workload, so there is no default: the
 * caller must decide.
 *
 * @example
 * labelSelector({ matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] }).toString(); // 'tier in (a,b)'
 */
export function labelSelector(selector: string | LabelSelector): Selector<LabelRequirement> {
  if (typeof selector === 'string') return parseLabelSelector(selector);
  const problems = validateLabelSelector(selector, 'selector');
  if (problems.length > 0)
    throw new BowlineError('BOWLINE_SELECTOR_INVALID', `invalid label selector: ${describeProblems(problems)}`);
  return labelSelectorOf([
    ...Object.entries(selector.matchLabels ?? {}).map(
      ([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] }),
    ),
    ...(selector.matchExpressions ?? []).map(
      ({ key, operator, values }): LabelRequirement => ({
        key,
        operator: OPERATORS.get(operator) ?? 'in',
        values: values ?? [],
      }),
    ),
  ]);
}

/** validateLabelSelector returns all problems that the API server reports for a selector at the field `path`. */
export function validateLabelSelector(selector: LabelSelector, path: string): FieldProblem[] {
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => byText(a, b));
  return [
    ...labels.flatMap(([key, value]) => [
      ...labelKeyProblems(key).map((problem) => invalidValue(`${path}.matchLabels`, key, problem)),
      ...labelValueProblems(value).map((problem) => invalidValue(`${path}.matchLabels`, value, problem)),
    ]),
    ...(selector.matchExpressions ?? []).flatMap(({ key, operator, values = [] }, index) => {
      const at = `${path}.matchExpressions[${index}]`;
      return [
        ...operatorProblems(at, operator, values),
        ...labelKeyProblems(key).map((problem) => invalidValue(`${at}.key`, key, problem)),
        ...values.flatMap((value, position) =>
          labelValueProblems(value).map((problem) => invalidValue(`${at}.values[${position}]`, value, problem)),
        ),
      ];
    }),
  ];
}

function operatorProblems(at: string, operator: string, values: readonly string[]): FieldProblem[] {
  switch (OPERATORS.get(operator)) {
    case 'in':
    case 'notin':
      if (values.length > 0) return [];
      return [requiredValue(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'exists':
    case '!':
      if (values.length === 0) return [];
      return [forbiddenValue(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalidValue(`${at}.operator`, operator, 'not a valid selector operator')];
  }
}
