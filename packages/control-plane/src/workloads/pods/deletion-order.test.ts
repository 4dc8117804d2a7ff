import { expect, it } from 'vitest';
import { inDeletionOrder } from './deletion-order.ts';
import { NOW, type PodTraits, podWith, READY } from './pod.test-support.ts';

const keep: PodTraits = { name: 'keep', node: 'n1', readySince: READY };

it.each<[string, PodTraits]>([
  ['a Pod without a node', { name: 'first', phase: 'Pending' }],
  ['a Pod that is still pending', { ...keep, name: 'first', phase: 'Pending' }],
  ['a Pod that is not ready', { name: 'first', node: 'n1' }],
  [
    'a Pod with a low deletion cost',
    { ...keep, name: 'first', annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } },
  ],
  ['a Pod that became ready recently', { ...keep, name: 'first', readySince: '2026-01-01T00:59:00Z' }],
  ['a Pod that restarts often', { ...keep, name: 'first', restarts: 3 }],
  ['a Pod that was created recently', { ...keep, name: 'first', createdAt: '2026-01-01T00:55:00Z' }],
])('deletes %s before another', (_, first) => {
  const pods = [podWith(keep), podWith(first)];
  expect(inDeletionOrder(pods, [], NOW).map(({ metadata }) => metadata?.name)).toEqual(['first', 'keep']);
});

it('deletes a Pod on the node with the most related Pods first', () => {
  const pods = [podWith(keep), podWith({ ...keep, name: 'first', node: 'n2' })];
  const related = [...pods, podWith({ ...keep, name: 'other', node: 'n2' })];
  expect(inDeletionOrder(pods, related, NOW)[0]?.metadata?.name).toBe('first');
});
