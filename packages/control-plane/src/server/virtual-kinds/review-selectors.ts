import type { FieldSelectorRequirement, LabelSelectorRequirement, ResourceAttributes } from '@bowline/kubernetes';
import {
  type FieldProblem,
  parseFieldSelector,
  parseLabelSelector,
  quoteText,
  validateLabelSelector,
} from '@bowline/machinery';
import { objectsIn } from '../authorization/policy-rule.ts';

const PATH = 'spec.resourceAttributes';
const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/**
 * selectorProblems returns the problems of the selectors of a review. They do not affect the result: roles have no
 * selectors.
 */
export function selectorProblems({ fieldSelector, labelSelector }: ResourceAttributes): FieldProblem[] {
  return [
    ...(fieldSelector ? problemsOf('fieldSelector', fieldSelector, fieldProblems) : []),
    ...(labelSelector ? problemsOf('labelSelector', labelSelector, labelProblems) : []),
  ];
}

/** selectorErrors reports selectors that could not be parsed; empty if all could. */
export function selectorErrors({ fieldSelector, labelSelector }: ResourceAttributes = {}): string {
  const errors: string[] = [];
  const addError = (name: string, known: number, all: number): void => {
    if (known === all) return;
    errors.push(`${PATH}.${name} ${known === 0 ? 'ignored' : 'partially ignored'} due to parse error`);
  };
  const count = <Requirement extends object>(
    name: string,
    { rawSelector, requirements }: Selector<Requirement> = {},
    parse: (text: string) => unknown,
    isReadable: (requirement: Requirement) => boolean,
  ): void => {
    const all = objectsIn(requirements);
    if (rawSelector) addError(name, parses(parse, rawSelector), 1);
    else addError(name, all.filter(isReadable).length, all.length);
  };
  count('fieldSelector', fieldSelector, parseFieldSelector, isFieldRequirement);
  count('labelSelector', labelSelector, parseLabelSelector, ({ operator }) => LABEL_OPERATORS.includes(operator));
  return errors.join('; ');
}

interface Selector<Requirement> {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly Requirement[] | undefined;
}

function problemsOf<Requirement extends object>(
  name: string,
  { rawSelector = '', requirements: sent }: Selector<Requirement>,
  check: (requirement: Requirement, path: string) => FieldProblem[],
): FieldProblem[] {
  const path = `${PATH}.${name}`;
  const requirements = objectsIn(sent);
  if (rawSelector === '' && requirements.length === 0) {
    const message = `Required value: when ${path} is specified, requirements or rawSelector is required`;
    return [{ field: `${path}.requirements`, reason: 'FieldValueRequired', message }];
  }
  const problems = requirements.flatMap((each, index) => check(each, `${path}.requirements[${index}]`));
  if (rawSelector === '' || requirements.length === 0) return problems;
  const message = `Invalid value: ${quoteText(rawSelector)}: may not specified at the same time as requirements`;
  return [{ field: `${path}.rawSelector`, reason: 'FieldValueInvalid', message }, ...problems];
}

function fieldProblems({ key, operator, values = [] }: FieldSelectorRequirement, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!key)
    problems.push({ field: `${path}.key`, reason: 'FieldValueRequired', message: 'Required value: must be specified' });
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    const message = "Required value: must be specified when `operator` is 'In' or 'NotIn'";
    problems.push({ field: `${path}.values`, reason: 'FieldValueRequired', message });
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const message = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    problems.push({ field: `${path}.values`, reason: 'FieldValueForbidden', message });
  }
  return problems;
}

function labelProblems(requirement: LabelSelectorRequirement, path: string): FieldProblem[] {
  const { key = '', operator = '' } = requirement as Partial<LabelSelectorRequirement>;
  return (
    validateLabelSelector({ matchExpressions: [{ ...requirement, key, operator }] }, '')
      // An unknown operator is not an error here; the requirement is ignored.
      .filter(({ field }) => !field.endsWith('.operator'))
      .map((problem) => ({ ...problem, field: problem.field.replace('.matchExpressions[0]', path) }))
  );
}

/** Fields can only be compared with a single value. */
function isFieldRequirement({ operator, values = [] }: FieldSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

function parses(parse: (text: string) => unknown, text: string): 0 | 1 {
  try {
    parse(text);
    return 1;
  } catch {
    return 0;
  }
}
