import type { Node } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { taintsFor } from './taints.ts';

const own = { key: 'example.test/own', effect: 'NoSchedule' } as const;
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({ type, status });

it.each<[string, Node, readonly string[]]>([
  ['a node without conditions', { spec: { taints: [notReady] } }, ['not-ready']],
  [
    'a ready node',
    { spec: { taints: [notReady, own] }, status: { conditions: [condition('Ready', 'True')] } },
    ['own'],
  ],
  ['a node that is not ready', { status: { conditions: [condition('Ready', 'False')] } }, ['not-ready']],
  ['a node whose state is unknown', { status: { conditions: [condition('Ready', 'Unknown')] } }, ['unreachable']],
  [
    'a cordoned node with disk pressure',
    {
      spec: { unschedulable: true },
      status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True')] },
    },
    ['disk-pressure', 'unschedulable'],
  ],
])('taints %s', (_, node, expected) => {
  expect(taintsFor(node).map(({ key }) => key.split('/')[1])).toEqual(expected);
});
