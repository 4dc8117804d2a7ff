import {
  CASES as DECISIONS,
  type PolicyCase,
  RULE,
  WARNINGS,
} from '../../../../packages/control-plane/src/server/admission/policies/policy-cases.test-support.ts';
import { CASES as DEFINITIONS } from '../../../../packages/control-plane/src/server/registry/kinds/admission-policy-cases.test-support.ts';
import { type Case, get, MERGE, patch, post, remove, repeated, type Step } from '../step.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const IN_NAMESPACE = { matchLabels: { 'kubernetes.io/metadata.name': 'NS' } };

/** decisionCase creates a policy with its bindings, and then objects on which it decides. */
function decisionCase({ sentence, policy, bindings = [{}], params = [], creates }: PolicyCase): Case {
  const spec = { matchConstraints: { resourceRules: [RULE] }, ...policy };
  return {
    name: `a policy decides: ${sentence}`,
    steps: [
      ...params.map(({ name, data }) => post(MAPS, { metadata: { name, labels: { param: 'yes' } }, data })),
      post(POLICIES, { metadata: { name: 'OWN-p' }, spec }),
      ...bindings.map((binding, index) =>
        post(BINDINGS, { metadata: { name: `OWN-b${index}` }, spec: bound(binding) }),
      ),
      ...creates.map((data, index) =>
        repeated(post(`${MAPS}?dryRun=All`, { metadata: { name: `OWN-${index}` }, data })),
      ),
      ...bindings.map((_, index) => remove(`${BINDINGS}/OWN-b${index}`)),
      remove(`${POLICIES}/OWN-p`),
    ],
  };
}

function bound(binding: object): object {
  const { matchResources } = binding as { readonly matchResources?: object };
  const whole = { namespaceSelector: IN_NAMESPACE, ...matchResources };
  return { policyName: 'OWN-p', validationActions: ['Deny'], ...binding, matchResources: whole };
}

const CONDITION = {
  type: 'A',
  status: 'True',
  reason: 'Because',
  lastTransitionTime: '2024-01-01T00:00:00Z',
  message: '',
};

const checked = (validations: readonly object[], more: object = {}): object => ({
  metadata: { name: 'OWN-checked' },
  spec: {
    matchConstraints: {
      resourceRules: [
        { ...RULE, apiGroups: ['apps'], resources: ['deployments', 'statefulsets/scale', 'daemonsets'] },
        { ...RULE, apiGroups: ['proof.bowline.dev'], resources: ['widgets'] },
      ],
    },
    validations,
    ...more,
  },
});

/** The status of policies whose expressions use fields that exist in some of the matched kinds only. */
const typeChecking: Case = {
  name: 'type checking of admission policies',
  steps: [
    ...[
      checked([{ expression: 'object.spec.replicas > 1' }]),
      checked([{ expression: 'true' }, { expression: "object.metadata.nope == 'x'", messageExpression: "'a'" }]),
      checked([{ expression: "object.spec.template.spec.containers.all(c, c.image.startsWith('a') && c.size > 1)" }]),
      checked([{ expression: 'variables.n > 1', messageExpression: 'string(object.nope)' }], {
        variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      }),
      checked([{ expression: 'params.data.a == params.nope' }], { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
      checked([
        { expression: "object.kind == 'x' && object.apiVersion == 'y' && namespaceObject.metadata.name == 'z'" },
      ]),
      checked([{ expression: "object.metadata.creationTimestamp < timestamp('2020-01-01T00:00:00Z')" }]),
    ].flatMap((policy) => [
      post(POLICIES, policy),
      repeated(get(`${POLICIES}/OWN-checked`)),
      patch(`${POLICIES}/OWN-checked`, { metadata: { labels: { a: 'b' } } }, MERGE),
      remove(`${POLICIES}/OWN-checked`),
    ]),
    post(POLICIES, checked([{ expression: 'true' }])),
    repeated(get(`${POLICIES}/OWN-checked`)),
    patch(`${POLICIES}/OWN-checked`, { spec: { failurePolicy: 'Ignore' } }, MERGE),
    repeated(get(`${POLICIES}/OWN-checked/status`)),
    patch(`${POLICIES}/OWN-checked/status`, { status: { typeChecking: { expressionWarnings: [{}] } } }, MERGE),
    ...[
      [{ type: 'A', status: 'B' }],
      [{ type: 'a b', status: 'True', reason: '-', observedGeneration: -1 }],
      [CONDITION, CONDITION],
      [{ ...CONDITION, reason: 'a'.repeat(1_025), message: 'a'.repeat(32_769) }],
      [CONDITION],
    ].map((conditions) => patch(`${POLICIES}/OWN-checked/status`, { status: { conditions } }, MERGE)),
    remove(`${POLICIES}/OWN-checked`),
  ],
};

/** admissionPolicies covers the definitions and the decisions of ValidatingAdmissionPolicies. */
export const admissionPolicies: readonly Case[] = [
  ...DEFINITIONS.map(
    ([sentence, ...steps]): Case => ({
      name: `admission policies: ${sentence}`,
      // What is read has a status that the real server writes later.
      steps: steps.map(([method, path, body, headers = {}]): Step => {
        return { method, path, body, headers, repeats: method === 'GET' };
      }),
    }),
  ),
  ...[...DECISIONS, ...WARNINGS].map(decisionCase),
  typeChecking,
];
