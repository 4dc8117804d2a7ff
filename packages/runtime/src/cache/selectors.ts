import type { KubernetesObject } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import type { LabelSelectorInput } from './informer.ts';

/** Matcher says whether a selector chooses a value. */
export type Matcher<T> = (value: T) => boolean;

type Labels = Readonly<Record<string, string>>;

/** matchLabels compiles a label selector. */
export function matchLabels(selector: LabelSelectorInput): Matcher<Labels> {
  const requirements = typeof selector === 'string' ? parseLabels(selector) : requirementsOf(selector);
  return (labels) => requirements.every((requirement) => requirement(labels));
}

/** matchFields compiles a field selector: `metadata.name=x,status.phase!=Running`. A field that is not there counts as empty. */
export function matchFields(selector: string): Matcher<KubernetesObject> {
  const terms = selector.split(',').map((term) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (!match) throw invalid(selector);
    const [, path = '', operator, wanted] = match;
    return { path: path.split('.'), equal: operator !== '!=', wanted };
  });
  return (object) => terms.every(({ path, equal, wanted }) => (fieldOf(object, path) === wanted) === equal);
}

function fieldOf(object: unknown, path: readonly string[]): string {
  let value: unknown = object;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return '';
    value = (value as Record<string, unknown>)[step];
  }
  return value === undefined || value === null ? '' : String(value);
}

function parseLabels(selector: string): Matcher<Labels>[] {
  const terms = selector.match(/[^,(]+(\([^)]*\))?[^,]*/g) ?? [];
  return terms
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, selector));
}

function parseTerm(term: string, selector: string): Matcher<Labels> {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    return requirementOf(
      key,
      operator === 'in' ? 'In' : 'NotIn',
      list.split(',').map((value) => value.trim()),
    );
  }
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(term);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    return requirementOf(key, operator === '!=' ? 'NotIn' : 'In', [value]);
  }
  const existence = /^(!?)\s*([^\s=!]+)$/.exec(term);
  if (!existence) throw invalid(selector);
  const [, not, key = ''] = existence;
  return requirementOf(key, not ? 'DoesNotExist' : 'Exists', []);
}

function requirementsOf(selector: Exclude<LabelSelectorInput, string>): Matcher<Labels>[] {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirementOf(key, 'In', [value])),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }) => requirementOf(key, operator, values ?? [])),
  ];
}

function requirementOf(key: string, operator: string, values: readonly string[]): Matcher<Labels> {
  switch (operator) {
    case 'In':
      return (labels) => labels[key] !== undefined && values.includes(labels[key]);
    case 'NotIn':
      return (labels) => labels[key] === undefined || !values.includes(labels[key]);
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    default:
      throw invalid(operator);
  }
}

function invalid(selector: string): BowlineError {
  return new BowlineError('BOWLINE_CACHE_SELECTOR', `cannot read the selector ${JSON.stringify(selector)}`);
}
