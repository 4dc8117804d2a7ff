import type { StorageClass } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { defaultStorageClassName, storageClassOf } from './storage-class-of.ts';

const named = (name: string, second: number, value = 'true', prefix = 'storageclass'): StorageClass => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    annotations: { [`${prefix}.kubernetes.io/is-default-class`]: value },
  },
  provisioner: 'example.com/x',
});

it.each<[string, readonly StorageClass[], string | undefined]>([
  ['none if no class is the default', [named('a', 1, 'yes')], undefined],
  ['the newest of several', [named('a', 1), named('c', 3), named('b', 2)], 'c'],
  ['the first by name of several of the same second', [named('b', 1), named('a', 1), named('c', 1)], 'a'],
  ['one with the older annotation', [named('a', 1, 'true', 'storageclass.beta')], 'a'],
])('the default class is %s', (_, classes, expected) => {
  expect(defaultStorageClassName(classes)).toBe(expected);
});

it('distinguishes a claim without a class from one that wants none', () => {
  expect(storageClassOf({ spec: {} })).toBeUndefined();
  expect(storageClassOf({ spec: { storageClassName: '' } })).toBe('');
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };
  expect(storageClassOf({ metadata: { annotations }, spec: { storageClassName: 'new' } })).toBe('old');
});
