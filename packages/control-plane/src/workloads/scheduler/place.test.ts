import type { Node, NodeSelectorRequirement, Pod } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { requestsOf } from '../../server/objects/pod-amounts.ts';
import { isSelected, isTolerated } from '../pods/node-selection.ts';
import { podWith } from '../pods/pod.test-support.ts';
import { place } from './place.ts';

const allocatable = { cpu: '2', memory: '1Gi', pods: '3' };
const node = (name: string, more: Partial<NonNullable<Node['spec']>> = {}): Node => ({
  metadata: { name, labels: { name, size: '5' } },
  spec: more,
  status: { allocatable },
});
const wanting = (spec: Partial<NonNullable<Pod['spec']>>): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
});
const asking = (cpu: string): Pod => wanting({ containers: [{ name: 'c', resources: { requests: { cpu } } }] });

describe('the node for a Pod', () => {
  it('is the one with the fewest siblings, then with the fewest Pods', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true };
    const sibling: Pod = { metadata: { name: 's', ownerReferences: [owner] } };
    const other = podWith({ name: 'o' });
    const loads = [
      { node: node('a'), pods: [sibling] },
      { node: node('b'), pods: [other, other] },
      { node: node('c'), pods: [other] },
    ];
    expect(place({ metadata: { name: 'p', ownerReferences: [owner] } }, loads)).toEqual({ node: 'c' });
  });

  it('has enough free resources', () => {
    const loads = [
      { node: node('a'), pods: [asking('1500m')] },
      { node: node('b'), pods: [asking('1'), asking('0')] },
    ];
    expect(place(asking('1'), loads)).toEqual({ node: 'b' });
  });

  it('does not exist if no node fits, and the reasons are counted', () => {
    const loads = [
      { node: node('a', { unschedulable: true }), pods: [] },
      { node: node('b', { taints: [{ key: 'x', effect: 'NoSchedule' }] }), pods: [] },
      { node: node('c'), pods: [] },
      { node: node('d'), pods: [podWith({ name: '1' }), podWith({ name: '2' }), podWith({ name: '3' })] },
    ];
    expect(place(asking('3'), loads)).toEqual({
      problem:
        '0/4 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.',
    });
    expect(place(asking('1'), [])).toEqual({ problem: 'no nodes available to schedule pods' });
  });

  it('has no conflict of host ports', () => {
    const port = (hostPort: number, hostIP?: string): Pod =>
      wanting({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort, hostIP }] }] });
    const loads = [{ node: node('a'), pods: [port(80, '10.0.0.1')] }];
    expect(place(port(80), loads)).toHaveProperty('problem');
    expect(place(port(80, '10.0.0.2'), loads)).toEqual({ node: 'a' });
    expect(place(port(81), loads)).toEqual({ node: 'a' });
  });
});

it.each<[NodeSelectorRequirement, boolean]>([
  [{ key: 'name', operator: 'In', values: ['a', 'b'] }, true],
  [{ key: 'name', operator: 'NotIn', values: ['a'] }, false],
  [{ key: 'none', operator: 'NotIn', values: ['a'] }, true],
  [{ key: 'name', operator: 'Exists' }, true],
  [{ key: 'none', operator: 'DoesNotExist' }, true],
  [{ key: 'size', operator: 'Gt', values: ['4'] }, true],
  [{ key: 'size', operator: 'Lt', values: ['5'] }, false],
])('evaluates the requirement %o', (requirement, expected) => {
  const terms = { nodeSelectorTerms: [{ matchExpressions: [requirement] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  expect(isSelected({ containers: [], affinity }, node('a'))).toBe(expected);
});

it('tolerates taints by key, value and effect, or all taints', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoSchedule' } as const;
  expect(isTolerated(taint, [{ key: 'k', operator: 'Equal', value: 'v' }])).toBe(true);
  expect(isTolerated(taint, [{ key: 'k', operator: 'Equal', value: 'other' }])).toBe(false);
  expect(isTolerated(taint, [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }])).toBe(false);
  expect(isTolerated(taint, [{ operator: 'Exists' }])).toBe(true);
});

it('requests the sum of the containers, or the largest init container', () => {
  const resources = (cpu: string) => ({ resources: { requests: { cpu } } });
  const pod = wanting({
    containers: [
      { name: 'a', ...resources('100m') },
      { name: 'b', ...resources('200m') },
    ],
    initContainers: [
      { name: 'beside', restartPolicy: 'Always', ...resources('50m') },
      { name: 'before', ...resources('1') },
    ],
    overhead: { cpu: '10m' },
  });
  expect(requestsOf(pod).get('cpu')?.nanos).toBe(1_060_000_000n);
});
