import type { Secret } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { type JsonObject, strategicMerge, systemClock } from '@bowline/machinery';
import { type Ensured, ensureContent } from '@bowline/runtime/writing';
import { describe, expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { someRequest } from '../pods/requesting-pod.test-support.ts';
import { desiredMetadata, desiredSecret, type WantedSecret } from './desired.ts';
import { newSecret } from './new-secret.test-support.ts';
import { claimOn, type DesiredSecret, type SecretView, secrets } from './secrets.ts';

const AT = '2026-01-01T00:00:00Z';

const wantedWith = (data: Readonly<Record<string, string>>, change: Partial<WantedSecret> = {}): WantedSecret => ({
  request: someRequest(),
  data,
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
const mark = (secret: Secret | undefined, name: keyof typeof SECRET_ANNOTATIONS): string | undefined =>
  secret?.metadata?.annotations?.[SECRET_ANNOTATIONS[name]];

/** ensured returns the result of `ensure` for a Secret, on an API server that applies patches and stores nothing. */
function ensured(secret: Secret, desired: DesiredSecret): Promise<Ensured<Secret, SecretView>> {
  const schema = schemaFor('v1', 'Secret');
  if (!schema) throw new TypeError('the schema of Secrets is missing');
  const refuse = () => Promise.reject(new TypeError('not expected'));
  const live = {
    find: refuse,
    create: refuse,
    delete: refuse,
    patch: (_: unknown, __: unknown, { body }: { body: unknown }) =>
      Promise.resolve(strategicMerge(secret, body as JsonObject, schema) as never),
  };
  const tools = { live, clock: systemClock, fieldManager: 'test', lookUp: () => undefined };
  const observed = { view: secrets.viewOf(secret), live: secret };
  return ensureContent(tools, secrets, { namespace: 'shop', name: 'db' }, desired, {
    claim: claimOn,
    observed,
    attempts: 1,
  });
}

const written = async (secret: Secret, wanted: WantedSecret) =>
  ensured(secret, desiredSecret(secrets.viewOf(secret), wanted));
const after = async (secret: Secret, wanted: WantedSecret): Promise<Secret> =>
  (await written(secret, wanted)).object ?? secret;

describe('a new Secret', () => {
  it('has our labels and annotations, and the time of its content', async () => {
    expect(stored).toEqual({
      metadata: {
        namespace: 'shop',
        name: 'db',
        labels: { [MANAGED_BY]: 'caronte', [SECRET_LABELS.provider]: 'mock' },
        annotations: {
          'jasm.codnod.io/source-path': '/prod/db',
          'jasm.codnod.io/version': 'v1',
          'jasm.codnod.io/data-hash': dataHash(first.data),
          'jasm.codnod.io/request-hash': 'hash of /prod/db',
          'jasm.codnod.io/asked-by': 'Pod/a',
          'jasm.codnod.io/synced-at': AT,
        },
      },
      type: 'Opaque',
      data: { a: 'YQ==', b: 'Yg==' },
    });
    expect((await written(stored, first)).outcome).toBe('unchanged');
  });
});

describe('a Secret of ours', () => {
  it('gets new content completely, and keeps labels and annotations of other owners', async () => {
    const theirs: Secret = {
      ...stored,
      metadata: {
        ...stored.metadata,
        labels: { ...stored.metadata?.labels, team: 'x' },
        annotations: { ...stored.metadata?.annotations, note: 'y' },
      },
    };
    const { outcome, object, writtenAt } = await written(theirs, wantedWith({ b: 'Yg==', c: 'Yw==' }));
    expect([outcome, object?.data]).toEqual(['updated', { b: 'Yg==', c: 'Yw==' }]);
    expect(object?.metadata?.labels).toMatchObject({ team: 'x', [MANAGED_BY]: 'caronte' });
    expect(object?.metadata?.annotations).toMatchObject({ note: 'y', [SECRET_ANNOTATIONS.syncedAt]: writtenAt });
  });

  it('may become empty, and is filled again', async () => {
    const empty = await after(stored, wantedWith({}));
    expect(empty.data).toBeUndefined();
    expect((await after(empty, first)).data).toEqual(first.data);
  });

  it('requests restarts when the content is replaced, but not for a repair', async () => {
    const changed = wantedWith({ a: 'eA==' }, { restarts: true });
    expect(mark(await after(stored, changed), 'restartFor')).toBe(dataHash(changed.data));
    const repaired = await written({ ...stored, data: { a: 'eA==' } }, { ...first, restarts: true });
    expect([repaired.outcome, mark(repaired.object, 'restartFor')]).toEqual(['repaired', undefined]);
  });

  it('drops a restart that is no longer requested', async () => {
    const once = await after(stored, wantedWith({ a: 'eA==' }, { restarts: true }));
    expect(mark(await after(once, wantedWith({ a: 'eQ==' })), 'restartFor')).toBeUndefined();
  });

  it.each<
    [what: string, change: Partial<WantedSecret>, name: keyof typeof SECRET_ANNOTATIONS, value: string | undefined]
  >([
    ['another version of the same content', { version: 'v2' }, 'version', 'v2'],
    ['a source that no longer has versions', { version: undefined }, 'version', undefined],
    ['the processed force-sync values', { forced: 'now' }, 'forced', 'now'],
    ['that it is deleted with its requesters', { deletionPolicy: 'Delete' }, 'deletionPolicy', 'Delete'],
  ])('records %s, but not the time', async (_, change, name, value) => {
    const wanted = { ...first, ...change };
    const { outcome, object = stored } = await written(stored, wanted);
    expect([outcome, mark(object, name), mark(object, 'syncedAt')]).toEqual(['marked', value, AT]);
    expect((await written(object, wanted)).outcome).toBe('unchanged');
  });

  it('is not written only to change the manager or the requester', async () => {
    const wanted: WantedSecret = { ...first, managedBy: 'jasm', askedBy: 'Pod/b' };
    expect((await written(stored, wanted)).outcome).toBe('unchanged');
    expect((await ensured(stored, desiredMetadata(secrets.viewOf(stored), wanted))).outcome).toBe('unchanged');
  });

  it('keeps the processed force-sync values when no pod has one any more', async () => {
    const forced = await after(stored, { ...first, forced: 'now' });
    expect((await written(forced, first)).outcome).toBe('unchanged');
  });

  it('becomes immutable', async () => {
    const { outcome, object } = await written(stored, { ...first, request: someRequest({ immutable: true }) });
    expect([outcome, object?.immutable]).toEqual(['marked', true]);
  });

  it('gets annotations although its content is not known', async () => {
    const wanted: WantedSecret = { ...first, deletionPolicy: 'Delete' };
    const { outcome, object } = await ensured(stored, desiredMetadata(secrets.viewOf(stored), wanted));
    expect([outcome, mark(object, 'deletionPolicy'), object?.data]).toEqual(['marked', 'Delete', stored.data]);
    expect(mark(object, 'dataHash')).toBe(dataHash(first.data));
  });
});

describe('a Secret that is not ours', () => {
  const theirs: Secret = {
    metadata: { namespace: 'shop', name: 'db' },
    type: 'kubernetes.io/tls',
    data: { theirs: 'eA==' },
  };

  it('gets our keys and records them, but not our label or type', async () => {
    const merged = await after(theirs, first);
    expect(merged).toMatchObject({ type: 'kubernetes.io/tls', data: { theirs: 'eA==', ...first.data } });
    expect(merged.metadata?.labels).toBeUndefined();
    expect([mark(merged, 'managedKeys'), mark(merged, 'deletionPolicy')]).toEqual(['a,b', undefined]);
    expect(secrets.viewOf(merged)).toMatchObject({ isOurs: false, ownHash: dataHash(first.data) });
    expect((await written(merged, { ...first, deletionPolicy: 'Delete' })).outcome).toBe('unchanged');
  });

  it('still records which keys are ours when only annotations change', async () => {
    const { outcome, object = theirs } = await written(await after(theirs, first), { ...first, version: 'v2' });
    expect([outcome, mark(object, 'managedKeys'), mark(object, 'version')]).toEqual(['marked', 'a,b', 'v2']);
    expect((await after(object, wantedWith({ b: 'Yg==' }))).data).toEqual({ theirs: 'eA==', b: 'Yg==' });
  });

  it('loses only those of our keys that were removed from the source', async () => {
    const object = await after(await after(theirs, first), wantedWith({ b: 'eA==' }));
    expect([object.data, mark(object, 'managedKeys')]).toEqual([{ theirs: 'eA==', b: 'eA==' }, 'b']);
  });

  it('keeps keys of its owner that conflict with ours', async () => {
    const { stop } = await written(await after(theirs, first), wantedWith({ a: '', theirs: '' }));
    expect(stop).toEqual({ reason: 'keys', keys: ['theirs'] });
  });
});
