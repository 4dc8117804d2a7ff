import type { Node, PersistentVolume, PersistentVolumeClaim } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { type MatchOptions, matchVolume, requestProblem } from './match-volume.ts';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;

const claim: PersistentVolumeClaim = {
  metadata: { name: 'a', namespace: 'demo', uid: 'a-uid' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'fast' },
};
const volume = (
  name: string,
  spec: Partial<VolumeSpec> = {},
  more: Partial<PersistentVolume> = {},
): PersistentVolume => ({
  metadata: { name },
  status: { phase: 'Available' },
  ...more,
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, storageClassName: 'fast', ...spec },
});
const reservedFor = (uid?: string): Partial<VolumeSpec> => ({ claimRef: { name: 'a', namespace: 'demo', uid } });
const node: Node = { metadata: { name: 'n', labels: { zone: 'z' } } };
const inZone = (value: string): Partial<VolumeSpec> => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
  },
});

it.each<[string, readonly PersistentVolume[], MatchOptions, string | undefined]>([
  [
    'the smallest',
    [volume('b', { capacity: { storage: '2Gi' } }), volume('a', { capacity: { storage: '1500Mi' } })],
    {},
    'a',
  ],
  [
    'the one with fewer access modes',
    [volume('a', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }), volume('b', { capacity: { storage: '9Gi' } })],
    {},
    'b',
  ],
  [
    'one that is reserved for the claim, even if it is larger and of another class',
    [volume('a'), volume('b', { ...reservedFor(), capacity: { storage: '2Gi' }, storageClassName: '' })],
    {},
    'b',
  ],
  ['none that was reserved for an earlier claim of the name', [volume('a', reservedFor('other'))], {}, undefined],
  [
    'none that is bound, released or being deleted',
    [
      volume('a', {}, { status: { phase: 'Released' } }),
      volume('b', {}, { metadata: { name: 'b', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ],
    {},
    undefined,
  ],
  ['none that is not reserved, while the claim waits for a node', [volume('a')], { onlyReserved: true }, undefined],
  ['one that the node can reach', [volume('a', inZone('y')), volume('b', inZone('z'))], { node }, 'b'],
  [
    'none, if the node cannot reach the reserved one',
    [volume('a', { ...inZone('y'), ...reservedFor('a-uid') }), volume('b')],
    { node },
    undefined,
  ],
  ['none that is excluded', [volume('a'), volume('b')], { excluded: new Set(['a']) }, 'b'],
])('the volume of a claim is %s', (_, volumes, options, expected) => {
  expect(matchVolume(claim, volumes, options)?.metadata?.name).toBe(expected);
});

it.each<[Partial<VolumeSpec>, string | undefined]>([
  [{}, undefined],
  [{ capacity: { storage: '1Mi' } }, 'requested PV is too small'],
  [{ storageClassName: 'slow' }, 'storageClassName does not match'],
  [{ volumeAttributesClassName: 'gold' }, 'volumeAttributesClassName does not match'],
  [{ volumeMode: 'Block' }, 'incompatible volumeMode'],
  [{ accessModes: ['ReadOnlyMany'] }, 'incompatible accessMode'],
])('a requested volume with %j → %s', (spec, problem) => {
  expect(requestProblem(volume('v', spec), claim)).toBe(problem);
});
