import type { Secret } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { type JsonObject, strategicMerge } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { someRequest } from '../pods/asking.test-support.ts';
import { contentPatch, isMarked, markPatch, mergePatch, newSecret, othersKeys, type WantedSecret } from './desired.ts';
import { viewOfSecret } from './secret-view.ts';

const AT = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';

const wantedWith = (data: Readonly<Record<string, string>>, change: Partial<WantedSecret> = {}): WantedSecret => ({
  request: someRequest(),
  data,
  hash: dataHash(data),
  version: 'v1',
  forced: undefined,
  deletionPolicy: 'Retain',
  askedBy: 'Pod/a',
  managedBy: 'caronte',
  restarts: false,
  ...change,
});

const first = wantedWith({ a: 'YQ==', b: 'Yg==' });
const stored = newSecret('shop', first, AT);
const mark = (secret: Secret, name: keyof typeof SECRET_ANNOTATIONS): string | undefined =>
  secret.metadata?.annotations?.[SECRET_ANNOTATIONS[name]];

/** patched is a Secret after a patch, as the API server has it. */
function patched(secret: Secret, patch: object): Secret {
  const schema = schemaFor('v1', 'Secret');
  if (!schema) throw new TypeError('there is no schema of Secrets');
  return strategicMerge(secret, patch as JsonObject, schema) as Secret;
}

describe('newSecret', () => {
  it('has our labels and marks, and the time of its content', () => {
    expect(stored).toMatchObject({
      type: 'Opaque',
      data: { a: 'YQ==', b: 'Yg==' },
      metadata: { name: 'db', labels: { [MANAGED_BY]: 'caronte', [SECRET_LABELS.provider]: 'mock' } },
    });
    expect(mark(stored, 'syncedAt')).toBe(AT);
    expect(mark(stored, 'sourcePath')).toBe('/prod/db');
    expect(mark(stored, 'deletionPolicy')).toBeUndefined();
    expect(stored.immutable).toBeUndefined();
    expect(isMarked(viewOfSecret(stored), first)).toBe(true);
  });
});

describe('contentPatch', () => {
  const view = viewOfSecret(stored);

  it('replaces the content as a whole, and leaves labels and annotations of others', () => {
    const theirs: Secret = {
      ...stored,
      metadata: { ...stored.metadata, labels: { team: 'x' }, annotations: { note: 'y' } },
    };
    const after = patched(theirs, contentPatch(view, wantedWith({ b: 'Yg==', c: 'Yw==' }), LATER));
    expect(after.data).toEqual({ b: 'Yg==', c: 'Yw==' });
    expect(after.metadata?.labels).toMatchObject({ team: 'x', [MANAGED_BY]: 'caronte' });
    expect(after.metadata?.annotations).toMatchObject({ note: 'y', [SECRET_ANNOTATIONS.syncedAt]: LATER });
  });

  it('removes the content, and fills what was empty', () => {
    const empty = patched(stored, contentPatch(view, wantedWith({}), LATER));
    expect(empty.data).toBeUndefined();
    expect(patched(empty, contentPatch(viewOfSecret(empty), first, LATER)).data).toEqual(first.data);
  });

  it('asks for restarts when the content takes the place of another, and not for a repair', () => {
    const restarts = { restarts: true };
    const changed = wantedWith({ a: 'eA==' }, restarts);
    expect(mark(patched(stored, contentPatch(view, changed, LATER)), 'restartFor')).toBe(changed.hash);
    const edited = { ...stored, data: { a: 'eA==' } };
    const repaired = patched(edited, contentPatch(viewOfSecret(edited), { ...first, ...restarts }, LATER));
    expect(mark(repaired, 'restartFor')).toBeUndefined();
  });

  it('forgets a restart that nobody wants any more', () => {
    const once = patched(stored, contentPatch(view, wantedWith({ a: 'eA==' }, { restarts: true }), LATER));
    const twice = patched(once, contentPatch(viewOfSecret(once), wantedWith({ a: 'eQ==' }), LATER));
    expect(mark(twice, 'restartFor')).toBeUndefined();
  });
});

describe('markPatch', () => {
  it.each<
    [what: string, change: Partial<WantedSecret>, name: keyof typeof SECRET_ANNOTATIONS, value: string | undefined]
  >([
    ['another version of the same content', { version: 'v2' }, 'version', 'v2'],
    ['a source that has no versions any more', { version: undefined }, 'version', undefined],
    ['what was obeyed', { forced: 'now' }, 'forced', 'now'],
    ['that it goes with its askers', { deletionPolicy: 'Delete' }, 'deletionPolicy', 'Delete'],
  ])('records %s, and not the time', (_, change, name, value) => {
    const wanted = { ...first, ...change };
    expect(isMarked(viewOfSecret(stored), wanted)).toBe(false);
    const after = patched(stored, markPatch(viewOfSecret(stored), wanted));
    expect(mark(after, name)).toBe(value);
    expect(mark(after, 'syncedAt')).toBe(AT);
    expect(isMarked(viewOfSecret(after), wanted)).toBe(true);
  });

  it('is not needed for the name of the manager, nor for whom it was written', () => {
    const wanted: WantedSecret = { ...first, managedBy: 'jasm', askedBy: 'Pod/b' };
    expect(isMarked(viewOfSecret(stored), wanted)).toBe(true);
  });

  it('keeps what was obeyed when nobody forces any more', () => {
    const forced = patched(stored, markPatch(viewOfSecret(stored), { ...first, forced: 'now' }));
    expect(isMarked(viewOfSecret(forced), first)).toBe(true);
  });

  it('makes a Secret immutable', () => {
    const wanted = { ...first, request: someRequest({ immutable: true }) };
    expect(isMarked(viewOfSecret(stored), wanted)).toBe(false);
    expect(patched(stored, markPatch(viewOfSecret(stored), wanted)).immutable).toBe(true);
  });
});

describe('mergePatch', () => {
  const theirs: Secret = {
    metadata: { namespace: 'shop', name: 'db' },
    type: 'kubernetes.io/tls',
    data: { theirs: 'eA==' },
  };
  const merged = patched(theirs, mergePatch(viewOfSecret(theirs), first, AT));

  it('adds our keys and says which they are, and makes the Secret neither ours nor of our type', () => {
    expect(merged).toMatchObject({ type: 'kubernetes.io/tls', data: { theirs: 'eA==', ...first.data } });
    expect(merged.metadata?.labels).toBeUndefined();
    expect(mark(merged, 'managedKeys')).toBe('a,b');
    const view = viewOfSecret(merged);
    expect(view).toMatchObject({ isOurs: false, hash: first.hash });
    expect(isMarked(view, { ...first, deletionPolicy: 'Delete' })).toBe(true);
  });

  it('removes our keys that are gone at the source, and no others', () => {
    const wanted = wantedWith({ b: 'eA==' });
    const after = patched(merged, mergePatch(viewOfSecret(merged), wanted, LATER));
    expect(after.data).toEqual({ theirs: 'eA==', b: 'eA==' });
    expect(mark(after, 'managedKeys')).toBe('b');
  });

  it('knows keys of somebody else by not having written them', () => {
    expect(othersKeys(merged, viewOfSecret(merged), wantedWith({ a: '', theirs: '' }))).toEqual(['theirs']);
  });
});
