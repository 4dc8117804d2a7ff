import type { Node } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { taintsFor } from './node-taints.ts';

const own = { key: 'example.test/own', effect: 'NoSchedule' } as const;
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({ type, status });

it.each<[string, Node, readonly string[]]>([
  ['a node that has said nothing', { spec: { taints: [notReady] } }, ['not-ready']],
  ['a ready one', { spec: { taints: [notReady, own] }, status: { conditions: [condition('Ready', 'True')] } }, ['own']],
  ['one that is not', { status: { conditions: [condition('Ready', 'False')] } }, ['not-ready']],
  ['one that is silent', { status: { conditions: [condition('Ready', 'Unknown')] } }, ['unreachable']],
  [
    'one under pressure that is cordoned',
    {
      spec: { unschedulable: true },
      status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True')] },
    },
    ['disk-pressure', 'unschedulable'],
  ],
])('taints %s', (_, node, expected) => {
  expect(taintsFor(node).map(({ key }) => key.split('/')[1])).toEqual(expected);
});
