import type { ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { guardState } from './guard-state.ts';
import { policyRules } from './policy-rules.ts';

const GUARDS = ['a', 'b'].map((name) => ({ policyName: name, rules: 'rules', bindingName: name }));
const policy = (name: string, rules = 'rules') => ({ name, rules });
const binding = (name: string, isDenying = true, policyName = name) => ({ name, policyName, isDenying });

it.each<[string, Parameters<typeof guardState>[1], Parameters<typeof guardState>[2], string]>([
  ['both policies are in effect', [policy('a'), policy('b')], [binding('a'), binding('b')], 'Guarded'],
  ['a policy is missing', [policy('a')], [binding('a'), binding('b')], 'PolicyMissing'],
  ['a policy has other rules', [policy('a'), policy('b', 'others')], [binding('a'), binding('b')], 'PolicyMissing'],
  ['a binding is missing', [policy('a'), policy('b')], [binding('b')], 'BindingMissing'],
  ['a binding only warns', [policy('a'), policy('b')], [binding('a'), binding('b', false)], 'BindingMissing'],
  [
    'a binding is for another policy',
    [policy('a'), policy('b')],
    [binding('a'), binding('b', true, 'c')],
    'BindingMissing',
  ],
  [
    'both bindings are for one policy',
    [policy('a'), policy('b')],
    [binding('a'), binding('b', true, 'a')],
    'BindingMissing',
  ],
])('when %s', (_, policies, bindings, reason) => {
  const state = guardState(GUARDS, policies, bindings);
  expect([state.reason, state.isGuarded]).toEqual([reason, reason === 'Guarded']);
});

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['UPDATE' as const] };
const spec: PolicySpec = {
  failurePolicy: 'Fail',
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression: 'true', message: 'no' }],
};

it('the rules of a policy are the same with the defaults that the API server adds, and with other messages', () => {
  const stored: PolicySpec = {
    ...spec,
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ ...rule, scope: '*' as const }],
    },
    validations: [{ expression: 'true', message: 'other' }],
  };
  expect(policyRules(stored)).toBe(policyRules(spec));
});

it.each<[string, Partial<PolicySpec>]>([
  ['ignores failures', { failurePolicy: 'Ignore' }],
  ['checks something else', { validations: [{ expression: '1 == 1' }] }],
  ['has another condition', { matchConditions: [{ name: 'never', expression: 'false' }] }],
  ['has another parameter', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }],
  [
    'is for some namespaces only',
    { matchConstraints: { ...spec.matchConstraints, namespaceSelector: { matchLabels: { a: 'b' } } } },
  ],
  ['excludes resources', { matchConstraints: { ...spec.matchConstraints, excludeResourceRules: [rule] } }],
  ['is for no resources', { matchConstraints: {} }],
])('the rules of a policy that %s are others', (_, change) => {
  expect(policyRules({ ...spec, ...change })).not.toBe(policyRules(spec));
});
