import { expect, it } from 'vitest';
import { asCreate, asRepeated, keyOf, writesChild } from './recorded-writes.ts';

const body = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'files',
    uid: 'old',
    resourceVersion: '7',
    labels: { 'app.kubernetes.io/managed-by': 'bowline-ztwim' },
    ownerReferences: [{ kind: 'SpireServer', uid: 'former' }],
  },
});
const applied = {
  method: 'PATCH',
  path: '/api/v1/namespaces/spire/configmaps/files?fieldManager=me&force=true',
  contentType: 'application/apply-patch+yaml',
  body,
};
const uids = new Map([['SpireServer', 'current']]);

it('tells writes of objects of operands from dry runs and other writes', () => {
  expect(writesChild(applied)).toBe(true);
  expect(writesChild({ ...applied, path: `${applied.path}&dryRun=All` })).toBe(false);
  expect(writesChild({ ...applied, body: '{"kind":"Secret","metadata":{"name":"x"}}' })).toBe(false);
  expect(keyOf(applied)).toBe('ConfigMap/files');
});

it('repeats a write with the current owners and without preconditions', () => {
  const metadata = {
    name: 'files',
    labels: { 'app.kubernetes.io/managed-by': 'bowline-ztwim' },
    ownerReferences: [{ kind: 'SpireServer', uid: 'current' }],
  };
  expect(JSON.parse(asRepeated(applied, uids).body)).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  expect(asCreate(applied, uids)).toMatchObject({
    method: 'POST',
    path: '/api/v1/namespaces/spire/configmaps?fieldManager=bowline-bench',
  });
});
