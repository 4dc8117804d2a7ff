import type { LabelSelector, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import type { Draft } from '../../api-resource.ts';
import { type KindRules, specChanged } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { bindingProblems } from './binding-problems.ts';
import { defaultMatchResources } from './match-resources-problems.ts';

/** validatingAdmissionPolicyBindingRules holds the rules of ValidatingAdmissionPolicyBindings. */
export const validatingAdmissionPolicyBindingRules: KindRules = {
  applyDefaults: (object) => defaultMatchResources(asBinding(object).spec?.matchResources),
  validate: (object) => bindingProblems(asBinding(object)),
  countsGeneration: specChanged,
  columns: [
    column(
      'PolicyName',
      'Name of the policy.',
      (object) => as<ValidatingAdmissionPolicyBinding>(object).spec?.policyName ?? '',
    ),
    column('ParamRef', 'The objects that parameterize the policy.', (object) => {
      const {
        name = '',
        namespace = '*',
        selector,
      } = as<ValidatingAdmissionPolicyBinding>(object).spec?.paramRef ?? {};
      if (name !== '') return `${namespace || '*'}/${name}`;
      return selector ? structText(selector) : '<unset>';
    }),
    AGE,
  ],
};

function asBinding(object: Draft): PartialObject<ValidatingAdmissionPolicyBinding> {
  // It was decoded with the schema of a ValidatingAdmissionPolicyBinding.
  return object as PartialObject<ValidatingAdmissionPolicyBinding>;
}

/** structText formats a selector as the API server displays it: in the notation of its programming language. */
function structText({ matchLabels = {}, matchExpressions = [] }: PartialObject<LabelSelector>): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const [labelText, expressionText] = [labels.join(''), expressions.join('')];
  return `&LabelSelector{MatchLabels:map[string]string{${labelText}},MatchExpressions:[]LabelSelectorRequirement{${expressionText}},}`;
}
