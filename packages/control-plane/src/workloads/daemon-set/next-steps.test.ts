import type { DaemonSet, Node, Pod, Taint } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NOW, type PodTraits, podWith, READY } from '../pods/pod.test-support.ts';
import { daemonPod, GENERATION_LABEL, HASH_LABEL, nodeOf, placementOn } from './daemon-pods.ts';
import { nextSteps } from './next-steps.ts';

const set: DaemonSet = { metadata: { name: 'agent', uid: 'u' }, spec: { selector: {}, template: {} } };
const surging: DaemonSet = {
  ...set,
  spec: {
    selector: {},
    template: {},
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  },
};
const node = (name: string, ...taints: readonly Taint[]): Node => ({ metadata: { name }, spec: { taints } });
const on = (where: string, hash: string, more: Partial<PodTraits> = {}): Pod =>
  podWith({ name: `${where}-${hash}`, node: where, readySince: READY, labels: { [HASH_LABEL]: hash }, ...more });

const numbered: DaemonSet = {
  ...set,
  metadata: { ...set.metadata, annotations: { 'deprecated.daemonset.template.generation': '1' } },
};
const fromGeneration = (generation: string): Pod =>
  on('a', 'other', { labels: { [HASH_LABEL]: 'other', [GENERATION_LABEL]: generation } });

it.each<[string, DaemonSet, Node[], Pod[], string[]]>([
  ['keeps an adopted Pod of the same generation', numbered, [node('a')], [fromGeneration('1')], []],
  ['replaces an adopted Pod of another generation', numbered, [node('a')], [fromGeneration('2')], ['remove a-other']],
  ['creates a Pod on every node', set, [node('a'), node('b')], [on('a', 'new')], ['create b']],
  ['waits until a terminating Pod is gone', set, [node('a')], [on('a', 'new', { isTerminating: true })], []],
  [
    'creates no Pod on a node with a taint that it does not tolerate',
    set,
    [node('a', { key: 'x', effect: 'NoSchedule' })],
    [],
    [],
  ],
  [
    'keeps a Pod that ran before such a taint was added',
    set,
    [node('a', { key: 'x', effect: 'NoSchedule' })],
    [on('a', 'new')],
    [],
  ],
  [
    'deletes the Pod of a node with an untolerated NoExecute taint',
    set,
    [node('a', { key: 'x', effect: 'NoExecute' })],
    [on('a', 'new')],
    ['remove a-new'],
  ],
  ['deletes the Pod of a node that no longer exists', set, [], [on('a', 'new')], ['remove a-new']],
  ['keeps an adopted Pod that targets no node', set, [], [podWith({ name: 'p' })], []],
  ['replaces a Pod that has failed', set, [node('a')], [on('a', 'new', { phase: 'Failed' })], ['remove a-new']],
  [
    'keeps one of two Pods on the same node',
    set,
    [node('a')],
    [on('a', 'new'), on('a', 'new', { name: 'z', createdAt: READY })],
    ['remove z'],
  ],
  ['updates one node at a time', set, [node('a'), node('b')], [on('a', 'old'), on('b', 'old')], ['remove a-old']],
  [
    'waits until an updated Pod is ready',
    set,
    [node('a'), node('b')],
    [podWith({ name: 'p', node: 'a', labels: { [HASH_LABEL]: 'new' } }), on('b', 'old')],
    [],
  ],
  [
    'creates the new Pod first when surge is allowed',
    surging,
    [node('a'), node('b')],
    [on('a', 'old'), on('b', 'old')],
    ['create a'],
  ],
  [
    'deletes the old Pod when the surged one is available',
    surging,
    [node('a')],
    [on('a', 'old'), on('a', 'new')],
    ['remove a-old'],
  ],
])('%s', (_, daemon, nodes, pods, expected) => {
  const { create, remove } = nextSteps(daemon, { nodes, pods, hash: 'new', now: NOW });
  const steps = [
    ...create.map((name) => `create ${name}`),
    ...remove.map(({ metadata }) => `remove ${metadata?.name ?? ''}`),
  ];
  expect(steps).toEqual(expected);
});

it('targets its node by affinity, and tolerates a node that is not ready', () => {
  const pod = daemonPod(set, 'a', 'new');
  expect(nodeOf(pod)).toBe('a');
  expect(placementOn(set, node('a', { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' })).shouldRun).toBe(
    true,
  );
});
