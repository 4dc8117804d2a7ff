import type {
  LabelSelector,
  NodeSelectorTerm,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from '@bowline/kubernetes';
import { type FieldProblem, labelKeyProblems, labelValueProblems, validateLabelSelector } from '@bowline/machinery';
import type { PartialObject } from './partial-object.ts';
import { duplicate, forbidden, invalid, invalids, notSupported, required, type StructValue } from './problems.ts';

type Problems = FieldProblem[];

const EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];

/** affinityProblems validates the node and pod affinity of a pod. */
export function affinityProblems(path: string, { affinity }: PartialObject<PodSpec>): Problems {
  if (!affinity) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  const problems: Problems = [];
  if (nodeAffinity) {
    const at = `${path}.nodeAffinity`;
    const needed = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    if (needed) {
      const terms = `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
      const { nodeSelectorTerms = [] } = needed;
      if (nodeSelectorTerms.length === 0) {
        problems.push(required(terms, 'must have at least one node selector term'));
      }
      nodeSelectorTerms.forEach((term, index) => {
        problems.push(...nodeTermProblems(`${terms}[${index}]`, term));
      });
    }
    (nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).forEach(({ weight, preference }, index) => {
      const term = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      problems.push(...weightProblems(term, weight), ...nodeTermProblems(`${term}.preference`, preference ?? {}));
    });
  }
  for (const [name, preferredTerms] of [
    ['podAffinity', podAffinity],
    ['podAntiAffinity', podAntiAffinity],
  ] as const) {
    const needed = `${path}.${name}.requiredDuringSchedulingIgnoredDuringExecution`;
    (preferredTerms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).forEach((term, index) => {
      problems.push(...podTermProblems(`${needed}[${index}]`, term));
    });
    const preferred = `${path}.${name}.preferredDuringSchedulingIgnoredDuringExecution`;
    (preferredTerms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).forEach(
      ({ weight, podAffinityTerm }, index) => {
        const term = `${preferred}[${index}]`;
        problems.push(
          ...weightProblems(term, weight),
          ...podTermProblems(`${term}.podAffinityTerm`, podAffinityTerm ?? {}),
        );
      },
    );
  }
  return problems;
}

function weightProblems(at: string, weight = 0): Problems {
  return weight >= 1 && weight <= 100 ? [] : [invalid(`${at}.weight`, weight, 'must be in the range 1-100')];
}

function nodeTermProblems(at: string, { matchExpressions = [] }: PartialObject<NodeSelectorTerm>): Problems {
  return matchExpressions.flatMap(({ key = '', operator = '', values = [] }, index) => {
    const field = `${at}.matchExpressions[${index}]`;
    const problems: Problems = [];
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0)
          problems.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0)
          problems.push(
            forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
          );
        break;
      case 'Gt':
      case 'Lt':
        if (values.length !== 1)
          problems.push(required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
        break;
      default:
        problems.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
    }
    problems.push(...invalids(`${field}.key`, key, labelKeyProblems(key)));
    values.forEach((value, position) => {
      problems.push(...invalids(`${field}.values[${position}]`, value, labelValueProblems(value)));
    });
    return problems;
  });
}

function podTermProblems(at: string, { labelSelector, topologyKey = '' }: PartialObject<PodAffinityTerm>): Problems {
  const problems = selectorProblems(`${at}.labelSelector`, labelSelector);
  if (topologyKey === '') problems.push(required(`${at}.topologyKey`, 'can not be empty'));
  return [...problems, ...invalids(`${at}.topologyKey`, topologyKey, labelKeyProblems(topologyKey))];
}

/** selectorProblems validates a label selector; an absent one is valid. */
export function selectorProblems(at: string, selector: PartialObject<LabelSelector> | undefined): Problems {
  if (!selector) return [];
  const { matchLabels, matchExpressions } = selector;
  return validateLabelSelector(
    {
      matchLabels: matchLabels as LabelSelector['matchLabels'],
      matchExpressions: matchExpressions?.map(({ key = '', operator = '', values }) => ({ key, operator, values })),
    },
    at,
  );
}

/** selectorStruct returns a selector in the form of the server's own type. */
export function selectorStruct(selector: PartialObject<LabelSelector> | undefined): StructValue {
  const { matchLabels, matchExpressions } = selector ?? {};
  return {
    matchLabels,
    matchExpressions: matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })),
  };
}

/** tolerationProblems validates the tolerations of a pod. */
export function tolerationProblems(path: string, tolerations: readonly PartialObject<Toleration>[]): Problems {
  return tolerations.flatMap(({ key = '', operator = '', value = '', effect, tolerationSeconds }, index) => {
    const at = `${path}[${index}]`;
    const problems = key === '' ? [] : invalids(`${at}.key`, key, labelKeyProblems(key));
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      problems.push(invalid(`${at}.operator`, operator, why));
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      problems.push(
        invalid(`${at}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    }
    if (operator === 'Equal' || operator === '') {
      const wrong = labelValueProblems(value);
      if (wrong.length > 0) problems.push(invalid(`${at}.operator`, value, wrong.join(';')));
    } else if (operator === 'Exists') {
      if (value !== '')
        problems.push(
          invalid(`${at}.operator`, { ...tolerations[index] }, "value must be empty when `operator` is 'Exists'"),
        );
    } else problems.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect) problems.push(...effectProblems(`${at}.effect`, effect));
    return problems;
  });
}

/** effectProblems validates the effect of a taint. */
export function effectProblems(field: string, effect: string): Problems {
  return EFFECTS.includes(effect) ? [] : [notSupported(field, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])];
}

/** spreadProblems validates the topology spread constraints of a pod. */
export function spreadProblems(
  path: string,
  constraints: readonly PartialObject<TopologySpreadConstraint>[],
): Problems {
  const pairs = constraints.map(
    ({ topologyKey = '', whenUnsatisfiable = '' }) => `{${topologyKey}, ${whenUnsatisfiable}}`,
  );
  return constraints.flatMap((constraint, index) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', minDomains, labelSelector } = constraint;
    const at = `${path}[${index}]`;
    const problems: Problems = [];
    if (maxSkew <= 0) problems.push(invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (topologyKey === '') problems.push(required(`${at}.topologyKey`, 'can not be empty'));
    else problems.push(...invalids(`${at}.topologyKey`, topologyKey, labelKeyProblems(topologyKey)));
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable)) {
      const known = ['DoNotSchedule', 'ScheduleAnyway'];
      problems.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, known));
    }
    const pair = pairs[index] ?? '';
    if (pairs.lastIndexOf(pair) > index) problems.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair));
    if (minDomains !== undefined) {
      if (minDomains <= 0) problems.push(invalid(`${at}.minDomains`, minDomains, 'must be greater than zero'));
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        problems.push(invalid(`${at}.minDomains`, minDomains, why));
      }
    }
    return [...problems, ...selectorProblems(`${at}.labelSelector`, labelSelector)];
  });
}
