import { describe, expect, it } from 'vitest';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { newBody, patchBody, releaseBody, replacedContent } from './content-bodies.ts';
import type { DesiredContent } from './managed-content.ts';
import { desiredSample, MANAGER, OWNER, PREFIX, sample, storedAs } from './sample-content.test-support.ts';

const objectKey = { namespace: 'b', name: 'settings' };
const at = '2026-01-01T00:00:00Z';
const later = '2026-02-02T00:00:00Z';
type Desired = DesiredContent<'data' | 'binaryData', 'uid' | 'version' | 'large' | 'dropped'>;
const appliedOf = ({ content = { data: {}, binaryData: {} }, hash = '', keyList }: Desired) => ({
  content,
  hash,
  keyList,
});
const desiredOf = (labels: Record<string, string> = {}, data: Record<string, string> = { color: 'red' }) =>
  desiredSample({ data }, { metadata: { labels, annotations: {} }, passiveAnnotations: { dropped: 'x', large: null } });

describe('newBody', () => {
  it('has content, labels and annotations, and no empty maps', () => {
    const desired = desiredSample(
      { data: { color: 'red' } },
      {
        metadata: { labels: { tag: '1' }, annotations: {} },
        passiveAnnotations: { dropped: 'x', large: null },
        members: { kind: 'K' },
      },
    );
    expect(newBody(sample, objectKey, desired, appliedOf(desired), { at })).toEqual({
      kind: 'K',
      metadata: {
        ...objectKey,
        labels: { tag: '1', [MANAGED_BY]: MANAGER, [OWNER]: 'me' },
        annotations: {
          [`${PREFIX}uid`]: 'my-uid',
          [`${PREFIX}dropped`]: 'x',
          [`${PREFIX}hash`]: desired.hash,
          [`${PREFIX}keys`]: 'color',
          [`${PREFIX}metadata`]: '{"labels":["tag"],"annotations":[]}',
          [`${PREFIX}time`]: at,
        },
      },
      data: { color: 'red' },
    });
  });
});

describe('patchBody', () => {
  const before = desiredOf({ tag: '1' });
  const view = sample.viewOf(storedAs(newBody(sample, objectKey, before, appliedOf(before), { at })));

  it('applies only to the state it was made from, and removes labels that are no longer requested', () => {
    const desired = desiredSample({ binaryData: { blob: 'AA==' } }, { passiveAnnotations: { large: null } });
    const applied = appliedOf(desired);
    const content = replacedContent(applied.content, view.filledMaps);
    expect(patchBody(sample, view, desired, applied, { at: later, content })).toMatchObject({
      metadata: {
        uid: 'u',
        resourceVersion: '7',
        labels: { tag: null, [MANAGED_BY]: MANAGER },
        annotations: { [`${PREFIX}time`]: later, [`${PREFIX}metadata`]: null, [`${PREFIX}large`]: null },
      },
      data: null,
      binaryData: { blob: 'AA==' },
    });
  });

  it('replaces only a map that is not empty: the API server drops a replacement of a missing map', () => {
    const content = { data: { color: 'red' }, binaryData: {} };
    expect(replacedContent(content, ['data'])).toEqual({ data: { $patch: 'replace', color: 'red' }, binaryData: null });
    expect(replacedContent(content, [])).toEqual({ data: { color: 'red' }, binaryData: null });
  });

  it('changes neither the time nor the annotations of the content if the content is unchanged', () => {
    const desired = { ...before, annotationsWithContent: { version: '9' } };
    const body = patchBody(sample, view, desired, appliedOf(desired), { at: later, content: undefined });
    expect(JSON.stringify(body)).not.toMatch(/"data"|2026-02-02|version":"9/);
    const written = patchBody(sample, view, desired, appliedOf(desired), { at: later, content: { data: null } });
    expect(written).toMatchObject({
      metadata: { annotations: { [`${PREFIX}version`]: '9', [`${PREFIX}time`]: later } },
    });
  });

  it('lists the keys of a guest, and writes no labels', () => {
    const desired = desiredSample({ data: { a: '1' } }, { keys: 'leave', immutable: true });
    const body = patchBody(sample, view, desired, { hash: 'h', keyList: 'a' }, { at, content: {}, isGuest: true });
    expect(body).toMatchObject({ metadata: { annotations: { [`${PREFIX}keys`]: 'a', [`${PREFIX}hash`]: 'h' } } });
    expect(body).not.toHaveProperty('metadata.labels');
    expect(body).not.toHaveProperty('immutable');
  });

  it('records the previous manager of an object, so that it can be restored', () => {
    const theirs = sample.viewOf({
      metadata: { ...objectKey, labels: { [MANAGED_BY]: 'Helm' } },
      data: { color: 'old' },
    });
    const adopting = patchBody(sample, theirs, before, appliedOf(before), { at, content: {}, adopts: true });
    const adopted = { [`${PREFIX}adopted`]: 'true', [`${PREFIX}previous-manager`]: 'Helm' };
    expect(adopting).toMatchObject({ metadata: { annotations: adopted } });
    const ours = newBody(sample, objectKey, before, appliedOf(before), { at, kept: { annotations: adopted } });
    expect(releaseBody(sample, sample.viewOf(ours))).toEqual({
      metadata: {
        uid: '',
        resourceVersion: '',
        labels: { [MANAGED_BY]: 'Helm', [OWNER]: null },
        annotations: Object.fromEntries(
          ['hash', 'time', 'keys', 'metadata', 'adopted', 'previous-manager', 'uid', 'version', 'large', 'dropped'].map(
            (name) => [`${PREFIX}${name}`, null],
          ),
        ),
      },
    });
  });
});
