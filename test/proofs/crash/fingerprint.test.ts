import { expect, it } from 'vitest';
import { differences } from './fingerprint.ts';

it('names every object that is gone, changed or new, and no other', () => {
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
    'configmaps a/changed was changed',
    'secrets a/gone is gone',
    'namespaces new was made',
  ]);
});
