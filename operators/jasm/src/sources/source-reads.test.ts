import { describe, expect, it } from 'vitest';
import { NEVER, ScriptedStore, sourceOf } from './scripted-store.test-support.ts';
import type { ReadReason } from './source-reads.ts';

const A = sourceOf('a');

function secretText(answer: unknown): unknown {
  return (answer as { secret?: { payload: { text: string } } }).secret?.payload.text;
}

describe('sharing', () => {
  it('makes one call for all callers whose reason is not newer than the call', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const reads = Array.from({ length: 50 }, () => store.reads.read(A, { since: 0 }, NEVER));
    await (await store.next()).answer();
    expect((await Promise.all(reads)).map(secretText)).toEqual(new Array(50).fill('one'));
    expect(store.made).toEqual(['fetch a']);
    expect(store.coalesced).toBe(49);
  });

  it('serves an old reason from a call that started after it, however late it is read', async () => {
    const store = new ScriptedStore({ immediate: true });
    store.put('a', 'one', 'v1');
    await store.clock.advance(1000);
    await store.reads.read(A, { since: 1000 }, NEVER);
    await store.clock.advance(9_000);
    expect(secretText(await store.reads.read(A, { since: 500 }, NEVER))).toBe('one');
    expect(store.made).toEqual(['fetch a']);
    expect(store.coalesced).toBe(1);
  });

  it('never serves a reason that is newer than the call: all newer ones share the next call', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const old = store.reads.read(A, { since: 0 }, NEVER);
    const first = await store.next();
    await store.clock.advance(10);
    const young = [1, 2, 3].map(() => store.reads.read(A, { since: 10 }, NEVER));
    expect(store.open).toHaveLength(1);
    await first.answer();
    expect(secretText(await old)).toBe('one');
    store.put('a', 'two', 'v2');
    await (await store.next()).answer();
    expect((await Promise.all(young)).map(secretText)).toEqual(['two', 'two', 'two']);
    expect(store.made).toEqual(['fetch a', 'fetch a']);
  });

  it.each([{ versions: false }, { versions: true }])(
    'never serves a newer reason with a kept value, versions: $versions',
    async ({ versions }) => {
      const store = new ScriptedStore({ versions, immediate: true });
      store.put('a', 'one', 'v1');
      await store.reads.read(A, { since: 0 }, NEVER);
      await store.clock.advance(10);
      store.put('a', 'two', 'v2');
      expect(secretText(await store.reads.read(A, { since: 10 }, NEVER))).toBe('two');
      await store.clock.advance(10);
      store.put('a', 'three', 'v3');
      expect(secretText(await store.reads.read(A, { since: 20, force: true }, NEVER))).toBe('three');
    },
  );

  it('does not share between sources that differ in path, version, stage, region or role', async () => {
    const store = new ScriptedStore();
    const others = [{}, { versionId: '1' }, { versionStage: 'OLD' }, { region: 'eu' }, { role: 'r' }];
    const reads = [...others.map((ref) => sourceOf('a', ref)), sourceOf('b')].map((source) =>
      store.reads.read(source, { since: 0 }, NEVER),
    );
    await store.clock.advance(0);
    expect(store.open).toHaveLength(6);
    store.stop.abort(new Error('enough'));
    await Promise.allSettled(reads);
  });

  it.each([
    { perNamespace: false, calls: 1 },
    { perNamespace: true, calls: 2 },
  ])('reads $calls times for two namespaces if the result depends on them: $perNamespace', async (row) => {
    const store = new ScriptedStore({ perNamespace: row.perNamespace, immediate: true });
    store.put('a', 'one', 'v1');
    for (const namespace of ['red', 'blue']) {
      await store.reads.read(sourceOf('a', { namespace }), { since: 0 }, NEVER);
    }
    expect(store.calls).toHaveLength(row.calls);
  });

  it('reads 100 sources once for 1,000 Secrets that are read one after the other', async () => {
    const store = new ScriptedStore({ versions: true, immediate: true });
    for (let source = 0; source < 100; source++) store.put(`s${source}`, 'one', 'v1');
    for (let secret = 0; secret < 1000; secret++) {
      await store.reads.read(sourceOf(`s${secret % 100}`), { since: 0 }, NEVER);
    }
    expect(store.calls).toHaveLength(100);
    expect(store.coalesced).toBe(900);
  });

  it('loads a provider once, on first use, and again after loading has failed', async () => {
    const store = new ScriptedStore({ immediate: true });
    store.put('a', 'one', 'v1');
    store.put('b', 'two', 'v1');
    expect(store.loads).toBe(0);
    store.loadError = new Error('no such module');
    await expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toThrow('no such module');
    store.loadError = undefined;
    await Promise.all([A, sourceOf('b')].map((source) => store.reads.read(source, { since: 0 }, NEVER)));
    expect(store.loads).toBe(2);
  });

  it('rejects an unknown provider, and lists the supported ones', async () => {
    const store = new ScriptedStore();
    const other = { provider: 'other', ref: A.ref };
    await expect(store.reads.read(other, { since: 0 }, NEVER)).rejects.toMatchObject({
      kind: 'refused',
      message: 'unknown provider "other"; supported providers: scripted',
    });
  });
});

describe('versions', () => {
  const versioned = (): ScriptedStore => {
    const store = new ScriptedStore({ versions: true, immediate: true });
    store.put('a', 'one', 'v1');
    return store;
  };

  it('reads the version first if one is known, and no value while it is unchanged', async () => {
    const store = versioned();
    expect(await store.reads.read(A, { since: 0, known: 'v1' }, NEVER)).toEqual({ unchanged: true, version: 'v1' });
    expect(store.made).toEqual(['probe a']);
  });

  it('reads the value if the version has changed', async () => {
    const store = versioned();
    expect(secretText(await store.reads.read(A, { since: 0, known: 'v0' }, NEVER))).toBe('one');
    expect(store.made).toEqual(['probe a', 'fetch a']);
  });

  it('reads the value immediately if no version is known', async () => {
    const store = versioned();
    await store.reads.read(A, { since: 0 }, NEVER);
    expect(store.made).toEqual(['fetch a']);
  });

  it('reads the value if the store returns no version, and compares its version', async () => {
    const store = versioned();
    store.canProbeVersion = false;
    expect(await store.reads.read(A, { since: 0, known: 'v1' }, NEVER)).toEqual({ unchanged: true, version: 'v1' });
    expect(store.made).toEqual(['probe a', 'fetch a']);
  });

  it('reads the value if forced, and returns it', async () => {
    const store = versioned();
    await store.clock.advance(10);
    const forced: ReadReason = { since: 10, known: 'v1', force: true };
    expect(secretText(await store.reads.read(A, forced, NEVER))).toBe('one');
    expect(store.made).toEqual(['fetch a']);
    expect(secretText(await store.reads.read(A, forced, NEVER))).toBe('one');
    expect(store.made).toEqual(['fetch a']);
  });

  it('does not use a version probe for a forced read', async () => {
    const store = versioned();
    await store.reads.read(A, { since: 0, known: 'v1' }, NEVER);
    expect(secretText(await store.reads.read(A, { since: 0, known: 'v1', force: true }, NEVER))).toBe('one');
    expect(store.made).toEqual(['probe a', 'fetch a']);
  });

  it('remembers a version longer than its value: a restart with 1,000 Secrets costs one probe per source', async () => {
    const store = versioned();
    await store.clock.advance(5);
    for (let secret = 0; secret < 1000; secret++) {
      await store.clock.advance(60_000);
      const answer = await store.reads.read(A, { since: 5, known: 'v1' }, NEVER);
      expect(answer).toEqual({ unchanged: true, version: 'v1' });
    }
    expect(store.made).toEqual(['probe a']);
  });

  it('does not probe again if a newer version was observed after the reason arose', async () => {
    const store = versioned();
    await store.reads.read(A, { since: 0, known: 'v1' }, NEVER);
    expect(secretText(await store.reads.read(A, { since: 0, known: 'v0' }, NEVER))).toBe('one');
    expect(store.made).toEqual(['probe a', 'fetch a']);
  });

  it('returns a kept value for a newer reason if the store still has its version', async () => {
    const store = versioned();
    await store.reads.read(A, { since: 0 }, NEVER);
    await store.clock.advance(100);
    expect(secretText(await store.reads.read(A, { since: 100 }, NEVER))).toBe('one');
    expect(secretText(await store.reads.read(A, { since: 100, known: 'v0' }, NEVER))).toBe('one');
    expect(store.made).toEqual(['fetch a', 'probe a']);
  });

  it('reads one value for all callers if only some of them have a version', async () => {
    const store = new ScriptedStore({ versions: true });
    store.put('a', 'one', 'v1');
    const has = store.reads.read(A, { since: 0, known: 'v1' }, NEVER);
    const hasNot = store.reads.read(A, { since: 0 }, NEVER);
    await (await store.next()).answer();
    expect(await has).toEqual({ unchanged: true, version: 'v1' });
    expect(secretText(await hasNot)).toBe('one');
    expect(store.made).toEqual(['fetch a']);
  });
});

describe('kept values and versions', () => {
  it('drops values 10 s after their call, without another read', async () => {
    const store = new ScriptedStore({ immediate: true });
    store.put('a', 'one', 'v1');
    await store.reads.read(A, { since: 0 }, NEVER);
    expect(store.clock.pendingTimers).toBe(1);
    await store.clock.advance(9_999);
    await store.reads.read(A, { since: 0 }, NEVER);
    expect(store.made).toHaveLength(1);
    await store.clock.advance(1);
    expect(store.clock.pendingTimers).toBe(0);
    await store.reads.read(A, { since: 0 }, NEVER);
    expect(store.made).toHaveLength(2);
  });

  it('keeps no more than 8 MiB of values', async () => {
    const store = new ScriptedStore({ immediate: true });
    for (const path of ['a', 'b', 'c']) store.put(path, 'x'.repeat(2 ** 21), 'v1');
    for (const path of ['a', 'b', 'c', 'b', 'c', 'a']) await store.reads.read(sourceOf(path), { since: 0 }, NEVER);
    expect(store.made).toEqual(['fetch a', 'fetch b', 'fetch c', 'fetch a']);
  });

  it('keeps no more than 1,024 values', async () => {
    const store = new ScriptedStore({ immediate: true });
    const ask = async (path: string): Promise<void> => {
      store.put(path, 'one', 'v1');
      await store.reads.read(sourceOf(path), { since: 0 }, NEVER);
    };
    for (let source = 0; source < 1_025; source++) await ask(`s${source}`);
    store.calls.length = 0;
    await ask('s1');
    await ask('s0');
    expect(store.made).toEqual(['fetch s0']);
  });

  it('drops the versions of the least recently read sources', async () => {
    const store = new ScriptedStore({ versions: true, immediate: true });
    const ask = async (path: string): Promise<void> => {
      store.put(path, 'one', 'v1');
      await store.reads.read(sourceOf(path), { since: 0, known: 'v1' }, NEVER);
    };
    await ask('first');
    await ask('second');
    await ask('first');
    for (let source = 0; source < 9_999; source++) await ask(`s${source}`);
    store.calls.length = 0;
    await ask('first');
    await ask('second');
    expect(store.made).toEqual(['probe second']);
  });
});

describe('lists', () => {
  const list = (): ScriptedStore => {
    const store = new ScriptedStore({ batch: true });
    for (const path of ['a', 'b', 'c']) store.put(path, `value of ${path}`, 'v1');
    return store;
  };
  const [B, C] = [sourceOf('b'), sourceOf('c')];

  it('reads a batch with one call, and serves its other sources from it', async () => {
    const store = list();
    const read = store.reads.read(A, { since: 0, batchWith: [A, B, C] }, NEVER);
    await (await store.next()).answer();
    expect(secretText(await read)).toBe('value of a');
    expect(secretText(await store.reads.read(B, { since: 0, batchWith: [A, B, C] }, NEVER))).toBe('value of b');
    expect(secretText(await store.reads.read(C, { since: 0 }, NEVER))).toBe('value of c');
    expect(store.made).toEqual(['batch a b c']);
  });

  it('makes one call if all sources of a batch are read at the same time', async () => {
    const store = list();
    const reads = [A, B, C].map((source) => store.reads.read(source, { since: 0, batchWith: [A, B, C] }, NEVER));
    await (await store.next()).answer();
    expect((await Promise.all(reads)).map(secretText)).toEqual(['value of a', 'value of b', 'value of c']);
    expect(store.made).toEqual(['batch a b c']);
    expect(store.coalesced).toBe(2);
  });

  it('omits sources from a batch that are being read, are already available, or differ in more than the path', async () => {
    const store = list();
    const other = store.reads.read(C, { since: 0 }, NEVER);
    const first = await store.next();
    const batchWith = [A, B, C, sourceOf('d', { region: 'eu' })];
    const read = store.reads.read(A, { since: 0, batchWith }, NEVER);
    await first.answer();
    await other;
    await (await store.next()).answer();
    await read;
    expect(store.made).toEqual(['fetch c', 'batch a b']);
  });

  it('returns the error of an item only to callers that wait for that item', async () => {
    const store = list();
    store.itemErrors.set('b', 'denied');
    const [a, b, c] = [A, B, C].map((source) => store.reads.read(source, { since: 0, batchWith: [A, B, C] }, NEVER));
    const denied = expect(b).rejects.toMatchObject({ kind: 'denied' });
    await (await store.next()).answer();
    await denied;
    expect(secretText(await a)).toBe('value of a');
    expect(secretText(await c)).toBe('value of c');
    expect(store.made).toEqual(['batch a b c']);
  });

  it.each(['a', 'b'])('reads %s alone after a transient failure in the batch', async (path) => {
    const store = list();
    store.itemErrors.set(path, 'transient');
    const reads = [A, B].map((source) => store.reads.read(source, { since: 0, batchWith: [A, B] }, NEVER));
    await (await store.next()).answer();
    await (await store.next()).answer();
    expect((await Promise.all(reads)).map(secretText)).toEqual(['value of a', 'value of b']);
    expect(store.made).toEqual(['batch a b', `fetch ${path}`]);
  });

  it('returns a failure of the whole batch to all callers that wait for it, and to no others', async () => {
    const store = list();
    const reads = [A, B].map((source) => store.reads.read(source, { since: 0, batchWith: [A, B, C] }, NEVER));
    const failed = Promise.allSettled(reads);
    await (await store.next()).fail('refused');
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const later = store.reads.read(C, { since: 0 }, NEVER);
    await (await store.next()).answer();
    expect(secretText(await later)).toBe('value of c');
  });

  it('reads at most twenty sources in a batch', async () => {
    const store = list();
    const batchWith = Array.from({ length: 30 }, (_, place) => sourceOf(`s${place}`));
    const read = store.reads.read(A, { since: 0, batchWith }, NEVER).catch(() => undefined);
    expect((await store.next()).paths).toHaveLength(20);
    store.stop.abort(new Error('enough'));
    await read;
  });
});
