import type { ValidatingAdmissionPolicy } from '@bowline/kubernetes';

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;

/**
 * policyRules returns what a policy checks, as one text that is the same for the same rules. Defaults count as what
 * they are; fields that a later Kubernetes version may add do not count.
 */
export function policyRules(spec: PolicySpec = {}): string {
  const { failurePolicy = 'Fail', matchConditions = [], variables = [], validations = [], paramKind } = spec;
  return JSON.stringify([
    failurePolicy,
    matched(spec.matchConstraints),
    matchConditions.map(({ name, expression }) => [name, expression]),
    variables.map(({ name, expression }) => [name, expression]),
    validations.map(({ expression }) => expression),
    paramKind !== undefined,
  ]);
}

function matched(constraints: PolicySpec['matchConstraints'] = {}): unknown {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy = 'Equivalent' } = constraints;
  const { namespaceSelector = {}, objectSelector = {} } = constraints;
  return [
    resourceRules.map(({ apiGroups, apiVersions, resources, operations, resourceNames = [], scope = '*' }) => [
      ...[apiGroups, apiVersions, resources, operations],
      ...[resourceNames, scope],
    ]),
    excludeResourceRules,
    matchPolicy,
    namespaceSelector,
    objectSelector,
  ];
}
