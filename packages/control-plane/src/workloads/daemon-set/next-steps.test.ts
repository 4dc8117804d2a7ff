import type { DaemonSet, Node, Pod, Taint } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NOW, type PodTraits, podWith, READY } from '../pods/pod.test-support.ts';
import { daemonPod, HASH_LABEL, nodeOf, placingOn } from './daemon-pods.ts';
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

it.each<[string, DaemonSet, Node[], Pod[], string[]]>([
  ['makes a Pod on every node', set, [node('a'), node('b')], [on('a', 'new')], ['create b']],
  ['waits until one that is deleted is gone', set, [node('a')], [on('a', 'new', { isGoing: true })], []],
  ['keeps away from a node that it does not tolerate', set, [node('a', { key: 'x', effect: 'NoSchedule' })], [], []],
  [
    'stays where it was before such a taint',
    set,
    [node('a', { key: 'x', effect: 'NoSchedule' })],
    [on('a', 'new')],
    [],
  ],
  [
    'leaves a node that evicts',
    set,
    [node('a', { key: 'x', effect: 'NoExecute' })],
    [on('a', 'new')],
    ['remove a-new'],
  ],
  ['leaves with its node', set, [], [on('a', 'new')], ['remove a-new']],
  ['leaves an adopted Pod alone that is meant for no node', set, [], [podWith({ name: 'p' })], []],
  ['starts a Pod anew that has ended', set, [node('a')], [on('a', 'new', { phase: 'Failed' })], ['remove a-new']],
  [
    'keeps one of two',
    set,
    [node('a')],
    [on('a', 'new'), on('a', 'new', { name: 'z', createdAt: READY })],
    ['remove z'],
  ],
  ['updates one node at a time', set, [node('a'), node('b')], [on('a', 'old'), on('b', 'old')], ['remove a-old']],
  [
    'waits for the first to be ready',
    set,
    [node('a'), node('b')],
    [podWith({ name: 'p', node: 'a', labels: { [HASH_LABEL]: 'new' } }), on('b', 'old')],
    [],
  ],
  [
    'makes the new one first when it may surge',
    surging,
    [node('a'), node('b')],
    [on('a', 'old'), on('b', 'old')],
    ['create a'],
  ],
  ['removes the old one then', surging, [node('a')], [on('a', 'old'), on('a', 'new')], ['remove a-old']],
])('%s', (_, daemon, nodes, pods, expected) => {
  const { create, remove } = nextSteps(daemon, { nodes, pods, hash: 'new', now: NOW });
  const said = [
    ...create.map((name) => `create ${name}`),
    ...remove.map(({ metadata }) => `remove ${metadata?.name ?? ''}`),
  ];
  expect(said).toEqual(expected);
});

it('names its node before the scheduler does, and bears a node in trouble', () => {
  const pod = daemonPod(set, 'a', 'new');
  expect(nodeOf(pod)).toBe('a');
  expect(placingOn(set, node('a', { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' })).shouldRun).toBe(true);
});
