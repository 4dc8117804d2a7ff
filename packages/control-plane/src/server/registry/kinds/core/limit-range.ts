import type { LimitRange, LimitRangeItem } from '@bowline/kubernetes';
import { compareQuantities, type FieldProblem, labelKeyProblems, parseQuantity } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { as, CREATED_AT } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, forbidden, invalid, invalids, required } from '../shared/problems.ts';

const TYPES: ReadonlySet<string> = new Set(['Container', 'Pod', 'PersistentVolumeClaim']);
const STANDARD: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);

type Item = PartialObject<LimitRangeItem>;
type Amounts = Record<string, string>;

/** limitRangeRules completes the default limits and requests of containers. */
export const limitRangeRules: KindRules = {
  applyDefaults(object) {
    const range = as<LimitRange>(object);
    range.spec ??= {};
    if (!range.spec.limits) object.spec = { ...range.spec, limits: null };
    for (const item of range.spec.limits ?? []) if (item.type === 'Container') defaultItem(item);
  },
  prepareForCreate: emptyAsNull,
  prepareForUpdate: emptyAsNull,
  validate(object) {
    const types = new Set<string>();
    return (as<LimitRange>(object).spec?.limits ?? []).flatMap((item, index) => {
      const at = `spec.limits[${index}]`;
      const { type = '' } = item;
      const problems = typeProblems(`${at}.type`, type);
      if (types.has(type)) problems.push(duplicate(`${at}.type`, type));
      types.add(type);
      return [...problems, ...itemProblems(at, item)];
    });
  },
  columns: [CREATED_AT],
};

/** An empty list of limits is written as null. */
function emptyAsNull(object: Draft): void {
  const { spec } = as<LimitRange>(object);
  if (spec?.limits?.length === 0) object.spec = { ...spec, limits: null };
}

/** The default limit defaults to the maximum, and the default request to the default limit or the minimum. */
function defaultItem(item: Item): void {
  const fill = (
    to: PartialObject<Amounts> | undefined,
    ...from: (PartialObject<Amounts> | undefined)[]
  ): PartialObject<Amounts> | undefined => {
    const filled = Object.assign({}, ...from.reverse(), to) as PartialObject<Amounts>;
    return Object.keys(filled).length > 0 ? filled : undefined;
  };
  item.default = fill(item.default, item.max);
  item.defaultRequest = fill(item.defaultRequest, item.default, item.min);
}

function typeProblems(field: string, type: string): FieldProblem[] {
  const problems = invalids(field, type, labelKeyProblems(type));
  if (problems.length === 0 && !type.includes('/') && !TYPES.has(type))
    problems.push(invalid(field, type, 'must be a standard limit type or fully qualified'));
  return problems;
}

function itemProblems(at: string, item: Item): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
  const amountsOf = (name: (typeof lists)[number]): Amounts => (item[name] ?? {}) as Amounts;
  if (item.type === 'Pod') {
    for (const name of ['default', 'defaultRequest'] as const)
      if (Object.keys(amountsOf(name)).length > 0)
        problems.push(forbidden(`${at}.${name}`, "may not be specified when `type` is 'Pod'"));
  } else {
    for (const list of lists)
      for (const name of Object.keys(amountsOf(list))) problems.push(...nameProblems(`${at}.${list}[${name}]`, name));
  }
  if (item.type === 'PersistentVolumeClaim' && !amountsOf('min').storage && !amountsOf('max').storage) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    problems.push(required(`${at}.limits`, detail));
  }
  const names = new Set(lists.flatMap((list) => Object.keys(amountsOf(list))));
  for (const name of names) {
    const [max, min, given, asked, ratio] = lists.map((list) => amountsOf(list)[name]);
    // The reported value is not always the invalid one, as in the API server.
    const more = (list: string, value = '', less: string, left = '', right = ''): void => {
      if (!left || !right || compareQuantities(parseQuantity(left), parseQuantity(right)) <= 0) return;
      problems.push(invalid(`${at}.${list}[${name}]`, value, less.replace('$1', left).replace('$2', right)));
    };
    more('min', min, 'min value $1 is greater than max value $2', min, max);
    more('defaultRequest', asked, 'min value $1 is greater than default request value $2', min, asked);
    more('defaultRequest', asked, 'default request value $1 is greater than max value $2', asked, max);
    more('defaultRequest', asked, 'default request value $1 is greater than default limit value $2', asked, given);
    more('default', min, 'min value $1 is greater than default value $2', min, given);
    more('default', max, 'default value $1 is greater than max value $2', given, max);
    if (ratio && compareQuantities(parseQuantity(ratio), parseQuantity('1')) < 0)
      problems.push(invalid(`${at}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`));
  }
  return problems;
}

function nameProblems(field: string, name: string): FieldProblem[] {
  const problems = invalids(field, name, labelKeyProblems(name));
  if (problems.length > 0 || name.includes('/') || STANDARD.has(name) || name.startsWith('hugepages-')) return problems;
  return [
    invalid(field, name, 'must be a standard resource type or fully qualified'),
    invalid(field, name, 'must be a standard resource for containers'),
  ];
}
