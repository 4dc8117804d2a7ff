import type { ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import type { Draft } from '../../api-resource.ts';
import { type KindRules, statusStrategy } from '../../built-in-strategy.ts';
import { AGE, as, column, count } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { loadCelEngine } from './cel-engine.ts';
import { defaultMatchResources } from './match-resources-problems.ts';
import { policyProblems } from './policy-problems.ts';
import { policyStatusProblems } from './policy-status-problems.ts';

/** validatingAdmissionPolicyRules holds the rules of ValidatingAdmissionPolicies. */
export const validatingAdmissionPolicyRules: KindRules = {
  applyDefaults(object) {
    const { spec } = asPolicy(object);
    if (!spec) return;
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  loadForValidate: loadCelEngine,
  validate: (object, old) => policyProblems(asPolicy(object), old && asPolicy(old)),
  subresources: {
    status: (whole) => ({
      strategy: {
        ...statusStrategy(whole),
        validate: (object) => policyStatusProblems(asPolicy(object).status ?? {}),
      },
    }),
  },
  columns: [
    count(
      'Validations',
      'Number of validation expressions.',
      (object) => as<ValidatingAdmissionPolicy>(object).spec?.validations?.length ?? 0,
    ),
    column('ParamKind', 'Kind of the objects that parameterize the policy.', (object) => {
      const { paramKind } = as<ValidatingAdmissionPolicy>(object).spec ?? {};
      return paramKind ? `${paramKind.apiVersion}/${paramKind.kind}` : '<unset>';
    }),
    AGE,
  ],
};

function asPolicy(object: Draft): PartialObject<ValidatingAdmissionPolicy> {
  // It was decoded with the schema of a ValidatingAdmissionPolicy.
  return object as PartialObject<ValidatingAdmissionPolicy>;
}
