import type { Node, Pod, PodAffinityTerm } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { place } from './place.ts';

const allocatable = { pods: '10' };
const node = (name: string, zone: string): Node => ({ metadata: { name, labels: { zone } }, status: { allocatable } });
const pod = (app: string, spec: Partial<NonNullable<Pod['spec']>> = {}, namespace = 'a'): Pod => ({
  metadata: { name: app, namespace, labels: { app } },
  spec: { containers: [], ...spec },
});
const term = (app: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: 'zone',
  labelSelector: { matchLabels: { app } },
  ...more,
});
const near = (...terms: PodAffinityTerm[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const apart = (...terms: PodAffinityTerm[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const spread = (app: string) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule' as const,
      labelSelector: { matchLabels: { app } },
    },
  ],
});

it.each<[string, Pod, { one?: Pod[]; two?: Pod[] }, string]>([
  [
    'schedules a Pod near the Pods that it has affinity for',
    pod('web', near(term('db'))),
    { two: [pod('db'), pod('x')] },
    'two',
  ],
  [
    'schedules the first of several Pods with affinity for each other anywhere',
    pod('web', near(term('web'))),
    {},
    'one',
  ],
  [
    'does not schedule a Pod without the Pods that it has affinity for',
    pod('web', near(term('db'))),
    {},
    "2 node(s) didn't match pod affinity rules",
  ],
  [
    'keeps a Pod away from Pods that it has anti-affinity for',
    pod('web', apart(term('web'))),
    { one: [pod('web')] },
    'two',
  ],
  [
    'keeps a Pod away from Pods that have anti-affinity for it',
    pod('web'),
    { one: [pod('db', apart(term('web')))] },
    'two',
  ],
  [
    'reports that every node violates the anti-affinity',
    pod('web', apart(term('web'))),
    { one: [pod('web')], two: [pod('web')] },
    "2 node(s) didn't match pod anti-affinity rules",
  ],
  [
    'applies terms to its own namespace by default',
    pod('web', apart(term('web'))),
    { one: [pod('web', {}, 'b')], two: [pod('x'), pod('y')] },
    'one',
  ],
  [
    'applies terms to the namespaces that they name',
    pod('web', apart(term('web', { namespaces: ['b'] }))),
    { one: [pod('web', {}, 'b')] },
    'two',
  ],
  [
    'applies terms to the namespaces that they select',
    pod('web', apart(term('web', { namespaceSelector: { matchLabels: { team: 'b' } } }))),
    { one: [pod('web', {}, 'b')] },
    'two',
  ],
  ['spreads Pods evenly', pod('web', spread('web')), { one: [pod('web')], two: [pod('x'), pod('y'), pod('z')] }, 'two'],
])('%s', (_, wanted, { one = [], two = [] }, expected) => {
  const loads = [
    { node: node('one', 'z1'), pods: one },
    { node: node('two', 'z2'), pods: two },
  ];
  const found = place(wanted, loads, { namespaceLabels: (namespace) => ({ team: namespace }) });
  if ('node' in found) expect(found.node).toBe(expected);
  else expect(found.problem).toContain(expected);
});
