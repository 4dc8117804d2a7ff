import { describe, expect, test } from 'vitest';
import { copiedMetadata, metadataProblems } from './copied-metadata.ts';

const names = {
  app: 'shop',
  'example.com/team': 'blue',
  'example.com/cost/center': 'an invalid name that a glob matches',
  'argocd.argoproj.io/instance': 'x',
  'argocd.argoproj.io/tracking-id': 'x',
  'app.kubernetes.io/instance': 'x',
  'app.kubernetes.io/managed-by': 'helm',
  'app.kubernetes.io/name': 'shop',
  'kubectl.kubernetes.io/last-applied-configuration': '{}',
  'sync.bowline.dev/sync-name': 'forged',
  'bowline.dev/paused': 'true',
};
const source = { labels: names, annotations: names };

describe('copiedMetadata', () => {
  test('copies nothing by default', () => {
    expect(copiedMetadata(source, undefined)).toEqual({ labels: {}, annotations: {} });
    expect(copiedMetadata(source, {})).toEqual({ labels: {}, annotations: {} });
    expect(copiedMetadata({}, { copyLabels: ['**'] })).toEqual({ labels: {}, annotations: {} });
  });

  test('copies the labels and annotations that match the globs', () => {
    const { labels, annotations } = copiedMetadata(source, { copyLabels: ['*'], copyAnnotations: ['example.com/*'] });
    expect(labels).toEqual({ app: 'shop' });
    expect(annotations).toEqual({ 'example.com/team': 'blue' });
  });

  test('never copies reserved names, or names that only apply to the source', () => {
    const { labels, annotations } = copiedMetadata(source, { copyLabels: ['**'], copyAnnotations: ['**'] });
    for (const copied of [labels, annotations]) {
      expect(Object.keys(copied)).toEqual([
        'app',
        'example.com/team',
        'example.com/cost/center',
        'app.kubernetes.io/name',
      ]);
    }
  });

  test('prefers added labels and annotations to copied ones', () => {
    const policy = { labels: { app: 'copy', tier: 'web' }, copyLabels: ['app'] };
    expect(copiedMetadata(source, policy).labels).toEqual({ app: 'copy', tier: 'web' });
  });

  test('ignores reserved names in the policy', () => {
    const forged = { 'sync.bowline.dev/adopted': 'true', 'app.kubernetes.io/managed-by': 'configmapsync' };
    expect(copiedMetadata({}, { labels: forged, annotations: forged })).toEqual({ labels: {}, annotations: {} });
  });
});

describe('metadataProblems', () => {
  test('accepts names that the API server accepts', () => {
    expect(metadataProblems(undefined)).toEqual([]);
    expect(metadataProblems({ labels: { 'example.com/a': '' }, annotations: { 'Example.com/A': '' } })).toEqual([]);
  });

  test.each([
    [{ labels: { 'a b': '' } }, 'spec.metadata.labels'],
    [{ labels: { 'a/b/c': '' } }, 'spec.metadata.labels'],
    [{ annotations: { '/a': '' } }, 'spec.metadata.annotations'],
    [{ annotations: { a: 'x'.repeat(200_000) } }, 'spec.metadata.annotations'],
  ])('reports the field of an invalid name', (policy, field) => {
    expect(new Set(metadataProblems(policy).map((problem) => problem.field))).toEqual(new Set([field]));
  });
});
