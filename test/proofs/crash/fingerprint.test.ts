import { expect, it } from 'vitest';
import { differences } from './fingerprint.ts';

it('reports every deleted, changed or new object, and no other', () => {
  const before = new Map([
    ['configmaps a/same', '1'],
    ['configmaps a/changed', '1'],
    ['secrets a/gone', '1'],
  ]);
  const after = new Map([
    ['configmaps a/same', '1'],
    ['configmaps a/changed', '2'],
    ['namespaces new', '1'],
  ]);
  expect(differences(before, after)).toEqual([
    'configmaps a/changed changed',
    'secrets a/gone was deleted',
    'namespaces new was created',
  ]);
});
