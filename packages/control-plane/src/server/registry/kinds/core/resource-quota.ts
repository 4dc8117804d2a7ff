import type { ResourceQuota } from '@bowline/kubernetes';
import { canonicalJson, type FieldProblem, labelKeyProblems, parseQuantity } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { IMMUTABLE, invalid, invalids, NOT_NEGATIVE } from '../shared/problems.ts';

/** COUNTED lists the resources that are counted in whole units. */
const COUNTED: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const MEASURED: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
/** The resources that pods request, the only ones that a scoped quota may limit. */
const COMPUTE: ReadonlySet<string> = new Set(['pods', ...[...MEASURED].filter((name) => name !== 'requests.storage')]);
const SCOPES: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]);
const OPPOSITES = [
  ['Terminating', 'NotTerminating'],
  ['BestEffort', 'NotBestEffort'],
] as const;

/** resourceQuotaRules validates the limits and scopes of a quota. */
export const resourceQuotaRules: KindRules = {
  returnsDeletedObject: true,
  countsGeneration: false,
  validate(object, old) {
    const { hard = {} } = as<ResourceQuota>(object).spec ?? {};
    const problems = amountProblems('spec.hard', hard as Amounts);
    problems.push(...scopeProblems(object));
    const status = as<ResourceQuota>(object).status;
    problems.push(...amountProblems('status.hard', (status?.hard ?? {}) as Amounts));
    problems.push(...amountProblems('status.used', (status?.used ?? {}) as Amounts));
    return old ? [...problems, ...scopeChange(object, old)] : problems;
  },
  columns: [
    column('Request', 'Used and allowed resource requests.', (object) => shares(object, (name) => !isLimit(name))),
    column('Limit', 'Used and allowed resource limits.', (object) => shares(object, isLimit)),
    AGE,
  ],
};

type Amounts = Readonly<Record<string, string>>;

function isLimit(name: string): boolean {
  return name.startsWith('limits.');
}

function shares(object: Draft | Parameters<typeof as>[0], wanted: (name: string) => boolean): string {
  const { hard = {}, used = {} } = as<ResourceQuota>(object).status ?? {};
  return Object.keys(hard)
    .filter(wanted)
    .sort()
    .map((name) => `${name}: ${used[name] ?? 0}/${hard[name]}`)
    .join(', ');
}

function amountProblems(path: string, amounts: Amounts): FieldProblem[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const field = `${path}[${name}]`;
    const problems = invalids(field, name, labelKeyProblems(name));
    const isStandard = COUNTED.has(name) || MEASURED.has(name) || isExtendedForm(name);
    if (problems.length === 0 && !name.includes('/') && !isStandard) {
      problems.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
      problems.push(invalid(field, name, 'must be a standard resource for quota'));
    }
    const { nanos } = parseQuantity(amount);
    if (nanos < 0n) problems.push(invalid(field, amount, NOT_NEGATIVE));
    const isWhole = COUNTED.has(name) || name.startsWith('count/') || /^requests\..*\//.test(name);
    if (isWhole && nanos % 1_000_000_000n !== 0n) problems.push(invalid(field, amount, 'must be an integer'));
    return problems;
  });
}

/** Reports whether a resource is an amount of huge pages. */
function isExtendedForm(name: string): boolean {
  return name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
}

function scopeProblems(object: Draft): FieldProblem[] {
  const { hard = {}, scopes = [] } = as<ResourceQuota>(object).spec ?? {};
  if (scopes.length === 0) return [];
  const field = 'spec.scopes';
  const problems: FieldProblem[] = [];
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) {
      problems.push(invalid(field, scopes, 'unsupported scope'));
      continue;
    }
    for (const name of Object.keys(hard)) {
      const fits = scope === 'BestEffort' ? name === 'pods' : COMPUTE.has(name);
      if (!fits) problems.push(invalid(field, scopes, 'unsupported scope applied to resource'));
    }
  }
  for (const pair of OPPOSITES)
    if (pair.every((scope) => scopes.includes(scope))) problems.push(invalid(field, scopes, 'conflicting scopes'));
  return problems;
}

function scopeChange(object: Draft, old: Draft): FieldProblem[] {
  const scopesOf = (draft: Draft): string[] => [...(as<ResourceQuota>(draft).spec?.scopes ?? [])].sort();
  if (canonicalJson(scopesOf(object)) === canonicalJson(scopesOf(old))) return [];
  return [invalid('spec.scopes', as<ResourceQuota>(object).spec?.scopes, IMMUTABLE)];
}
