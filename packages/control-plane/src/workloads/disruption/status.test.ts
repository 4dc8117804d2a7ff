import type { PodDisruptionBudget } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NOW, podWith, READY } from '../pods/pod.test-support.ts';
import { budgetStatus } from './status.ts';

type Spec = NonNullable<PodDisruptionBudget['spec']>;

const ready = (name: string) => podWith({ name, readySince: READY });

it.each<[string, Spec, number, number, number]>([
  ['a minimum number of available Pods', { minAvailable: 2 }, 5, 2, 1],
  ['a minimum percentage of available Pods, rounded up', { minAvailable: '50%' }, 5, 3, 0],
  ['a maximum number of unavailable Pods', { maxUnavailable: 3 }, 5, 2, 1],
  ['a maximum percentage of unavailable Pods, rounded up', { maxUnavailable: '30%' }, 5, 3, 0],
])('allows evictions by %s', (_, spec, scale, desiredHealthy, disruptionsAllowed) => {
  const pods = [ready('a'), ready('b'), ready('c'), podWith({ name: 'd' })];
  expect(budgetStatus({ spec }, pods, scale, NOW)).toMatchObject({
    currentHealthy: 3,
    desiredHealthy,
    disruptionsAllowed,
  });
});

it('does not count a Pod whose eviction was allowed, until the eviction times out', () => {
  const disruptedPods = { a: '2026-01-01T00:59:30Z', b: '2026-01-01T00:50:00Z', gone: '2026-01-01T00:59:30Z' };
  const status = { disruptedPods, currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
  const found = budgetStatus({ spec: { minAvailable: 1 }, status }, [ready('a'), ready('b')], 2, NOW);
  expect(found).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0, disruptedPods: { a: disruptedPods.a } });
  expect(found.conditions?.[0]).toMatchObject({
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
  });
});
