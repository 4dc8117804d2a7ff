import { describe, expect, it } from 'vitest';
import { ANNOTATIONS, LABELS, MANAGED_BY, MANAGER } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { newCopy, patchOf, stripPatch } from './copy-bodies.ts';
import { viewOf } from './copy-view.ts';
import { desiredCopy } from './desired-copy.ts';

const place = { namespace: 'team-b', name: 'settings' };
const source = {
  metadata: { namespace: 'team-a', name: 'settings', uid: 'source-uid' },
  content: contentOf({ data: { color: 'red' } }),
};
const at = '2026-01-01T00:00:00Z';
const desiredOf = (labels: Record<string, string> = {}, content = source.content) =>
  desiredCopy({ metadata: { namespace: 'team-a', name: 'sync', uid: 'sync-uid' } }, source, content, {
    labels,
    annotations: {},
  });

describe('newCopy', () => {
  it('has content, labels and annotations, and no empty maps', () => {
    const desired = desiredOf({ tag: '1' });
    expect(newCopy(place, desired, desired, { at })).toEqual({
      metadata: {
        ...place,
        labels: { tag: '1', [MANAGED_BY]: MANAGER, [LABELS.syncNamespace]: 'team-a', [LABELS.syncName]: 'sync' },
        annotations: {
          [ANNOTATIONS.syncUid]: 'sync-uid',
          [ANNOTATIONS.source]: 'team-a/settings',
          [ANNOTATIONS.sourceUid]: 'source-uid',
          [ANNOTATIONS.sourceHash]: desired.hash,
          [ANNOTATIONS.appliedHash]: desired.hash,
          [ANNOTATIONS.managedKeys]: 'color',
          [ANNOTATIONS.managedMetadata]: '{"labels":["tag"],"annotations":[]}',
          [ANNOTATIONS.syncedAt]: at,
        },
      },
      data: { color: 'red' },
    });
  });
});

describe('patchOf', () => {
  const before = desiredOf({ tag: '1' });
  const copy = newCopy(place, before, before, { at });
  const view = viewOf({ ...copy, metadata: { ...copy.metadata, uid: 'u', resourceVersion: '7' } });
  const later = '2026-02-02T00:00:00Z';

  it('holds for the state it was made from, replaces content, and takes labels back that the spec no longer has', () => {
    const desired = desiredOf({}, contentOf({ binaryData: { blob: 'AA==' } }));
    expect(patchOf(view, desired, desired, { at: later, withContent: true })).toMatchObject({
      metadata: {
        uid: 'u',
        resourceVersion: '7',
        labels: { tag: null, [MANAGED_BY]: MANAGER },
        annotations: { [ANNOTATIONS.syncedAt]: later, [ANNOTATIONS.managedMetadata]: null, [ANNOTATIONS.base]: null },
      },
      data: null,
      binaryData: { blob: 'AA==' },
    });
  });

  it('replaces only a map that is there: the API server drops a replacement of nothing', () => {
    const options = { at: later, withContent: true };
    expect(patchOf(view, before, before, options)).toMatchObject({ data: { $patch: 'replace', color: 'red' } });
    const empty = viewOf({ metadata: place });
    const { data } = patchOf(empty, before, before, options) as { data: object };
    expect(data).toEqual({ color: 'red' });
  });

  it('leaves the time alone together with the content', () => {
    const body = patchOf(view, before, before, { at: later, withContent: false });
    expect(body).not.toHaveProperty('data');
    expect(JSON.stringify(body)).not.toContain(later);
  });

  it('remembers whose an object was, so that it can be given back', () => {
    const theirs = viewOf({ metadata: { ...place, labels: { [MANAGED_BY]: 'Helm' } }, data: { color: 'old' } });
    expect(patchOf(theirs, before, before, { at, withContent: true, adopts: true })).toMatchObject({
      metadata: { annotations: { [ANNOTATIONS.adopted]: 'true', [ANNOTATIONS.previousManager]: 'Helm' } },
    });
    const ours = newCopy(place, before, before, {
      at,
      kept: { annotations: { [ANNOTATIONS.previousManager]: 'Helm' } },
    });
    expect(stripPatch(viewOf(ours))).toMatchObject({
      metadata: {
        labels: { [MANAGED_BY]: 'Helm', [LABELS.syncName]: null, [LABELS.syncNamespace]: null },
        annotations: { [ANNOTATIONS.adopted]: null, [ANNOTATIONS.base]: null },
      },
    });
  });
});
