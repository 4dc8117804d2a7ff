import type { PriorityClass } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { KindRules } from '../built-in-strategy.ts';
import { AGE, as, column, count } from './shared/column.ts';
import { forbidden, IMMUTABLE, invalid, notSupported } from './shared/problems.ts';
import { dropFalse } from './shared/zero-values.ts';

const MAX_VALUE = 1_000_000_000;
/** Classes that exist in every cluster. */
const SYSTEM: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};
const POLICIES = ['PreemptLowerPriority', 'Never'];

/** priorityClassRules keeps the value and the policy of a class immutable, because pods carry copies of them. */
export const priorityClassRules: KindRules = {
  applyDefaults(object) {
    const priority = as<PriorityClass>(object);
    priority.preemptionPolicy ??= 'PreemptLowerPriority';
    dropFalse(priority, 'globalDefault');
  },
  validate(object, old) {
    const { value = 0, preemptionPolicy = '' } = as<PriorityClass>(object);
    if (old) {
      const problems: FieldProblem[] = [];
      if (value !== old.value) problems.push(forbidden('value', 'may not be changed in an update.'));
      if (preemptionPolicy !== old.preemptionPolicy)
        problems.push(invalid('preemptionPolicy', preemptionPolicy, IMMUTABLE));
      return problems;
    }
    const problems = valueProblems(object.metadata.name ?? '', value);
    if (!POLICIES.includes(preemptionPolicy))
      problems.push(notSupported('preemptionPolicy', preemptionPolicy, POLICIES));
    return problems;
  },
  // No mutable field is part of the desired state.
  countsGeneration: () => false,
  columns: [
    count('Value', 'Priority of pods of this class.', (object) => as<PriorityClass>(object).value ?? 0),
    column(
      'Global-Default',
      'Whether the class is the default for pods that name no class.',
      (object) => as<PriorityClass>(object).globalDefault ?? false,
      { type: 'boolean' },
    ),
    AGE,
    column(
      'PreemptionPolicy',
      'Whether pods of this class preempt pods of lower priority.',
      (object) => as<PriorityClass>(object).preemptionPolicy ?? '<unset>',
    ),
  ],
};

function valueProblems(name: string, value: number): FieldProblem[] {
  if (name.startsWith('system-')) {
    if (SYSTEM[name] === value) return [];
    const why = Object.hasOwn(SYSTEM, name)
      ? `value of ${name} PriorityClass must be ${SYSTEM[name]}`
      : `${name} is not a known system priority class`;
    const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`;
    return [forbidden('metadata.name', detail)];
  }
  return value > MAX_VALUE
    ? [forbidden('value', `maximum allowed value of a user defined priority is ${MAX_VALUE}`)]
    : [];
}
