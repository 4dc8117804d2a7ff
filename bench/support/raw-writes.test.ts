import { expect, test } from 'vitest';
import { asWritten } from './raw-writes.ts';

test('keeps only the fields that the writer wrote', () => {
  const written = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { labels: { a: '1' }, annotations: { b: '2' }, ownerReferences: [{ uid: 'x' }] },
    data: { key: 'value' },
  };
  const server = {
    name: 'n',
    namespace: 's',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: 'now',
    managedFields: [{}],
  };
  const stored = { ...written, metadata: { ...server, ...written.metadata } };
  expect(asWritten(JSON.stringify(stored))).toEqual(written);
});

test('keeps the type of a Secret', () => {
  const written = { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: { key: 'dmFsdWU=' }, type: 'Opaque' };
  expect(asWritten(JSON.stringify({ ...written, metadata: { uid: 'u' } }))).toEqual(written);
});

test('omits fields that were not written', () => {
  expect(asWritten(JSON.stringify({ kind: 'ConfigMap', metadata: { name: 'n' } }))).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {},
  });
});
