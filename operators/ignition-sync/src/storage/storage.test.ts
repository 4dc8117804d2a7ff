import type { PersistentVolumeClaim } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { claimSpec, immutableProblem, type StorageSpec } from './claim.ts';
import { storageProblem } from './storage-state.ts';

const storage: StorageSpec = { storageClassName: '', size: '2Gi', accessMode: 'ReadWriteMany' };
const claim = (changes: object = {}, phase: 'Bound' | 'Lost' | 'Pending' = 'Bound'): PersistentVolumeClaim => ({
  metadata: { name: 'repo' },
  spec: {
    accessModes: ['ReadWriteMany'],
    storageClassName: 'standard',
    resources: { requests: { storage: '2Gi' } },
    ...changes,
  },
  status: { phase },
});

describe('claimSpec', () => {
  it('leaves the class to the cluster unless one is named', () => {
    expect(claimSpec(storage)).toEqual({ accessModes: ['ReadWriteMany'], resources: { requests: { storage: '2Gi' } } });
    expect(claimSpec({ ...storage, storageClassName: 'fast' })).toMatchObject({ storageClassName: 'fast' });
  });

  it('accepts a size in bytes', () => {
    expect(claimSpec({ ...storage, size: 1024 })?.resources).toEqual({ requests: { storage: '1024' } });
  });
});

describe('immutableProblem', () => {
  it.each<[string, Partial<StorageSpec>, RegExp | undefined]>([
    ['the same values', {}, undefined],
    ['the class that the cluster chose', { storageClassName: 'standard' }, undefined],
    ['a larger size', { size: '3Gi' }, undefined],
    ['the same size in other units', { size: '2048Mi' }, undefined],
    ['a smaller size', { size: '1Gi' }, /has 2Gi and cannot be reduced to 1Gi; restore spec.storage.size/],
    ['another class', { storageClassName: 'fast' }, /has the class standard, .* restore spec.storage.storageClassName/],
    [
      'another access mode',
      { accessMode: 'ReadWriteOnce' },
      /has the access mode ReadWriteMany, .* spec.storage.accessMode/,
    ],
  ])('for %s', (_, changes, expected) => {
    const problem = immutableProblem(claim(), { ...storage, ...changes });
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(expected);
  });
});

describe('storageProblem', () => {
  const pod = (name: string, node: string) => ({ name, node });
  const once = { ...storage, accessMode: 'ReadWriteOnce' as const };

  it.each([
    ['Pending', 'ClaimUnbound'],
    ['Lost', 'ClaimLost'],
  ] as const)('names a claim that is %s', (phase, reason) => {
    expect(storageProblem(claim({}, phase), storage, [])).toMatchObject({
      reason,
      message: expect.stringContaining('repo'),
    });
  });

  it('names the pods of a ReadWriteOnce claim on several nodes, at most five', () => {
    const pods = Array.from({ length: 7 }, (_, index) => pod(`p${index}`, `n${index % 2}`));
    expect(storageProblem(claim(), once, pods)?.message).toContain('p0, p1, p2, p3, p4 and 2 more are on 2 nodes');
    expect(storageProblem(claim(), storage, pods)).toBeUndefined();
  });

  it('accepts pods of a ReadWriteOnce claim on one node, and pods that are not scheduled', () => {
    expect(storageProblem(claim(), once, [pod('a', 'n'), pod('b', 'n'), pod('c', '')])).toBeUndefined();
  });
});
