import { type FieldProblem, invalidValue } from '../validation/field-problem.ts';
import { labelValueProblems } from './label-syntax.ts';
import { byText, ownValue, type Selector, selectorOf } from './selector.ts';

/** LabelOperator compares a label with values; `==` is parsed as `=`. */
export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

/** LabelRequirement is one condition of a label selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and without duplicates; one value for the comparisons, none for `exists` and `!`. */
  readonly values: readonly string[];
}

/** labelSelectorOf creates a selector from validated requirements. */
export function labelSelectorOf(requirements: readonly LabelRequirement[]): Selector<LabelRequirement> {
  const sorted = requirements
    .map(({ key, operator, values }) => Object.freeze({ key, operator, values: [...new Set(values)].sort(byText) }))
    .sort((a, b) => byText(a.key, b.key) || byText(write(a), write(b)));
  return selectorOf({ requirements: sorted, check, write });
}

function check(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string | undefined>>,
): boolean {
  const label = ownValue(labels, key);
  switch (operator) {
    case 'exists':
      return label !== undefined;
    case '!':
      return label === undefined;
    case '=':
    case 'in':
      return label !== undefined && values.includes(label);
    case '!=':
    case 'notin':
      return label === undefined || !values.includes(label);
    case '>':
    case '<': {
      const actual = label === undefined ? undefined : parseInt64(label);
      const bound = parseInt64(values[0] ?? '');
      if (actual === undefined || bound === undefined) return false;
      return operator === '>' ? actual > bound : actual < bound;
    }
  }
}

function write({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}

/** valueProblems returns the problems of the values of a requirement that was parsed from text. */
export function valueProblems({ key, operator, values }: LabelRequirement): FieldProblem[] {
  return values.flatMap((value, index) => {
    const problems: FieldProblem[] = [];
    if ((operator === '>' || operator === '<') && parseInt64(value) === undefined)
      problems.push(invalidValue(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    const syntax = labelValueProblems(value);
    if (syntax.length > 0) problems.push(invalidValue(`values[${index}][${key}]`, value, syntax.join('; ')));
    return problems;
  });
}

// Labels have at most 63 characters, so the number stays small; the API server does not accept numbers beyond int64.
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,63}$/.test(text)) return undefined;
  const magnitude = BigInt(text.replace(/^[+-]/, ''));
  const value = text.startsWith('-') ? -magnitude : magnitude;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
