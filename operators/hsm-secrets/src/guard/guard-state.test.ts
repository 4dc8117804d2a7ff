import { expect, it } from 'vitest';
import { guardState } from './guard-state.ts';

const NAMES = { policies: ['a', 'b'], bindings: ['a', 'b'] };
const policy = (name: string, isStrict = true) => ({ name, isStrict });
const binding = (name: string, isDenying = true, policyName = name) => ({ name, policyName, isDenying });

it.each<[string, Parameters<typeof guardState>[1], Parameters<typeof guardState>[2], string]>([
  ['both policies are in effect', [policy('a'), policy('b')], [binding('a'), binding('b')], 'Guarded'],
  ['a policy is missing', [policy('a')], [binding('a'), binding('b')], 'PolicyMissing'],
  ['a policy ignores failures', [policy('a'), policy('b', false)], [binding('a'), binding('b')], 'PolicyMissing'],
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
  const state = guardState(NAMES, policies, bindings);
  expect([state.reason, state.isGuarded]).toEqual([reason, reason === 'Guarded']);
});
