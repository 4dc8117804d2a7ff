import type { PodDisruptionBudget } from '@bowline/kubernetes';
import type { Draft } from '../api-resource.ts';
import type { KindRules } from '../built-in-strategy.ts';
import { AGE, as, column, count } from './shared/column.ts';
import { countProblems, type IntOrPercent, shareProblems } from './shared/int-or-percent.ts';
import type { PartialObject } from './shared/partial-object.ts';
import { invalidStruct, notSupported } from './shared/problems.ts';
import { selectorProblems } from './shared/scheduling-problems.ts';
import { statusDefaults, zeroes } from './shared/status-defaults.ts';

/** podDisruptionBudgetRules holds the rules of PodDisruptionBudgets. */
export const podDisruptionBudgetRules: KindRules = {
  applyDefaults(object) {
    const { status } = asBudget(object);
    zeroes(status, 'disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods');
    statusDefaults(status?.conditions, 'lastTransitionTime');
  },
  validate(object) {
    const { spec = {} } = asBudget(object);
    const { selector, unhealthyPodEvictionPolicy: policy } = spec;
    const { minAvailable, maxUnavailable } = spec as { minAvailable?: IntOrPercent; maxUnavailable?: IntOrPercent };
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      const value = {
        MinAvailable: minAvailable,
        Selector: selector ?? null,
        MaxUnavailable: maxUnavailable,
        UnhealthyPodEvictionPolicy: policy ?? null,
      };
      return [invalidStruct('spec', value, 'minAvailable and maxUnavailable cannot be both set')];
    }
    const known = ['AlwaysAllow', 'IfHealthyBudget'];
    return [
      ...(minAvailable === undefined ? [] : both('spec.minAvailable', minAvailable)),
      ...(maxUnavailable === undefined ? [] : both('spec.maxUnavailable', maxUnavailable)),
      ...selectorProblems('spec.selector', selector),
      ...(policy === undefined || known.includes(policy)
        ? []
        : [notSupported('spec.unhealthyPodEvictionPolicy', policy, known)]),
    ];
  },
  columns: [
    column('Min Available', 'Number or percentage of pods that must stay available.', (object) =>
      text(as<PodDisruptionBudget>(object).spec?.minAvailable),
    ),
    column('Max Unavailable', 'Number or percentage of pods that may be unavailable.', (object) =>
      text(as<PodDisruptionBudget>(object).spec?.maxUnavailable),
    ),
    count(
      'Allowed Disruptions',
      'Number of pods that may be disrupted now.',
      (object) => as<PodDisruptionBudget>(object).status?.disruptionsAllowed ?? 0,
    ),
    AGE,
  ],
};

function asBudget(object: Draft): PartialObject<PodDisruptionBudget> {
  // It was decoded with the schema of a PodDisruptionBudget.
  return object as PartialObject<PodDisruptionBudget>;
}

function both(field: string, value: IntOrPercent) {
  return [...countProblems(field, value), ...shareProblems(field, value)];
}

function text(value: unknown): string {
  return value === undefined ? 'N/A' : String(value);
}
