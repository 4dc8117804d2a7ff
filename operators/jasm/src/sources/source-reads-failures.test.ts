import { describe, expect, it } from 'vitest';
import { NEVER, ScriptedStore, sourceOf } from './scripted-store.test-support.ts';

const A = sourceOf('a');

describe('retries', () => {
  it('retries a transient failure five times, with random delays that double', async () => {
    // Half of the longest delay each time.
    const store = new ScriptedStore({ random: { next: () => 0.5 } });
    const read = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind: 'transient' });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      await (await store.next()).fail('transient');
      if (attempt < 5) waits.push(store.clock.nextDueInMs ?? -1);
      await store.clock.advance(store.clock.nextDueInMs ?? 0);
    }
    await read;
    expect(waits).toEqual([250, 500, 1000, 2000, 4000]);
    expect(store.calls).toHaveLength(6);
    expect(store.clock.pendingTimers).toBe(0);
  });

  it('returns the result of the attempt that succeeds', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const read = store.reads.read(A, { since: 0 }, NEVER);
    for (let failure = 0; failure < 3; failure++) {
      await (await store.next()).fail('transient');
      await store.clock.advance(store.clock.nextDueInMs ?? 0);
    }
    await (await store.next()).answer();
    expect(await read).toMatchObject({ unchanged: false, secret: { sourcePath: 'a' } });
  });

  it.each(['not-found', 'denied', 'refused'] as const)('does not retry %s', async (kind) => {
    const store = new ScriptedStore();
    const read = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind });
    await (await store.next()).fail(kind);
    await read;
    expect(store.calls).toHaveLength(1);
  });

  it('waits as long as the store requests, and gives up immediately if that is more than 30 s', async () => {
    const store = new ScriptedStore({ random: { next: () => 0 } });
    const read = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ retryAfterMs: 30_001 });
    await (await store.next()).fail('transient', 12_000);
    expect(store.clock.nextDueInMs).toBe(12_000);
    await store.clock.advance(12_000);
    await (await store.next()).fail('transient', 30_001);
    await read;
  });

  it('lets a later attempt serve the reasons that arose before it', async () => {
    const store = new ScriptedStore({ random: { next: () => 0.5 } });
    store.put('a', 'one', 'v1');
    const old = store.reads.read(A, { since: 0 }, NEVER);
    const first = await store.next();
    await store.clock.advance(10);
    const young = store.reads.read(A, { since: 10 }, NEVER);
    await first.fail('transient');
    await store.clock.advance(250);
    await (await store.next()).answer();
    await Promise.all([old, young]);
    expect(store.calls).toHaveLength(2);
  });

  it('ends an attempt after 30 s, even if the store ignores its signal, and retries', async () => {
    const store = new ScriptedStore({ random: { next: () => 0 } });
    store.put('a', 'one', 'v1');
    const read = store.reads.read(A, { since: 0 }, NEVER);
    const hanging = await store.next();
    await store.clock.advance(29_999);
    expect(hanging.signal.aborted).toBe(false);
    await store.clock.advance(1);
    expect(hanging.signal.reason).toMatchObject({ kind: 'transient', code: 'Timeout' });
    await store.clock.advance(0);
    await store.open[1]?.answer();
    await read;
    expect(store.calls).toHaveLength(2);
  });
});

describe('errors', () => {
  const missing = { kind: 'not-found' };

  it('are shared by all callers that waited for the call', async () => {
    const store = new ScriptedStore();
    const reads = [1, 2].map(() => expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject(missing));
    await (await store.next()).answer();
    await Promise.all(reads);
    expect(store.calls).toHaveLength(1);
  });

  it.each(['not-found', 'denied', 'refused'] as const)(
    'that are permanent (%s) serve every reason that arose before their call, however late it is read',
    async (kind) => {
      const store = new ScriptedStore();
      const first = store.reads.read(A, { since: 0 }, NEVER).catch(() => undefined);
      await (await store.next()).fail(kind);
      await first;
      for (let secret = 1; secret < 1_000; secret++) {
        await expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind });
      }
      expect(store.calls).toHaveLength(1);
      expect(store.coalesced).toBe(999);
    },
  );

  it('never serve a reason that arose after their call, nor once a later call has succeeded', async () => {
    const store = new ScriptedStore({ immediate: true });
    await expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject(missing);
    store.put('a', 'one', 'v1');
    await store.clock.advance(10);
    expect(await store.reads.read(A, { since: 10 }, NEVER)).toMatchObject({ unchanged: false });
    await store.clock.advance(60_000);
    expect(await store.reads.read(A, { since: 0 }, NEVER)).toMatchObject({ unchanged: false });
    expect(store.made).toEqual(['fetch a', 'fetch a', 'fetch a']);
  });

  it('that are transient are not remembered', async () => {
    const store = new ScriptedStore({ random: { next: () => 0 } });
    const failed = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind: 'transient' });
    for (let attempt = 0; attempt < 6; attempt++) await (await store.next()).fail('transient');
    await failed;
    store.put('a', 'one', 'v1');
    const again = store.reads.read(A, { since: 0 }, NEVER);
    await (await store.next()).answer();
    expect(await again).toMatchObject({ unchanged: false });
  });

  it('of a version probe serve callers with a version, and those of a read serve callers that need the value', async () => {
    const store = new ScriptedStore({ versions: true });
    const ask = async (known: string | undefined, fails: boolean): Promise<void> => {
      const read = store.reads.read(A, { since: 0, known }, NEVER).catch(() => undefined);
      if (fails) await (await store.next()).fail('denied');
      await read;
    };
    await ask('v1', true);
    await ask('v1', false);
    await ask(undefined, true);
    await ask(undefined, false);
    await ask('v1', false);
    expect(store.made).toEqual(['probe a', 'fetch a']);
  });

  it('of a read do not affect a caller that has the current version', async () => {
    const store = new ScriptedStore({ versions: true });
    store.put('a', 'one', 'v1');
    const denied = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind: 'denied' });
    await (await store.next()).fail('denied');
    await denied;
    const has = store.reads.read(A, { since: 0, known: 'v1' }, NEVER);
    await (await store.next()).answer();
    expect(await has).toEqual({ unchanged: true, version: 'v1' });
    await expect(store.reads.read(A, { since: 0, known: 'v0' }, NEVER)).rejects.toMatchObject({ kind: 'denied' });
    expect(store.made).toEqual(['fetch a', 'probe a']);
  });

  it('of one item of a batch are remembered for that item, and those of the whole batch for none', async () => {
    const store = new ScriptedStore({ batch: true });
    const B = sourceOf('b');
    store.put('a', 'one', 'v1');
    store.itemErrors.set('b', 'denied');
    const read = store.reads.read(A, { since: 0, batchWith: [B] }, NEVER);
    await (await store.next()).answer();
    await read;
    await expect(store.reads.read(B, { since: 0 }, NEVER)).rejects.toMatchObject({ kind: 'denied' });
    expect(store.made).toEqual(['batch a b']);
  });

  it('do not affect callers whose reason is newer than the call', async () => {
    const store = new ScriptedStore();
    const old = expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toMatchObject({ kind: 'not-found' });
    const first = await store.next();
    await store.clock.advance(10);
    const young = store.reads.read(A, { since: 10 }, NEVER);
    await first.answer();
    await old;
    store.put('a', 'one', 'v1');
    await (await store.next()).answer();
    expect(await young).toMatchObject({ unchanged: false });
  });

  it('of a version probe are returned by the read', async () => {
    const store = new ScriptedStore({ versions: true, immediate: false });
    const read = expect(store.reads.read(A, { since: 0, known: 'v1' }, NEVER)).rejects.toMatchObject({
      kind: 'denied',
    });
    await (await store.next()).fail('denied');
    await read;
    expect(store.made).toEqual(['probe a']);
  });
});

describe('aborting', () => {
  it('ends the read of a caller that aborts, and continues the call for the others', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const leaving = new AbortController();
    const left = expect(store.reads.read(A, { since: 0 }, leaving.signal)).rejects.toThrow('leaving');
    const stays = store.reads.read(A, { since: 0 }, NEVER);
    const call = await store.next();
    leaving.abort(new Error('leaving'));
    await left;
    expect(call.signal.aborted).toBe(false);
    await call.answer();
    expect(await stays).toMatchObject({ unchanged: false });
  });

  it('ends the call when no caller waits for it, and makes another one for a later caller', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const leaving = new AbortController();
    const left = expect(store.reads.read(A, { since: 0 }, leaving.signal)).rejects.toThrow('leaving');
    const call = await store.next();
    leaving.abort(new Error('leaving'));
    expect(call.signal.aborted).toBe(true);
    const comes = store.reads.read(A, { since: 0 }, NEVER);
    await left;
    await store.clock.advance(0);
    await store.open[1]?.answer();
    expect(await comes).toMatchObject({ unchanged: false });
    expect(store.calls).toHaveLength(2);
  });

  it('continues a batch while a caller waits for any of its items', async () => {
    const store = new ScriptedStore({ batch: true });
    store.put('a', 'one', 'v1');
    store.put('b', 'two', 'v1');
    const leaving = new AbortController();
    const B = sourceOf('b');
    const left = expect(store.reads.read(A, { since: 0, batchWith: [B] }, leaving.signal)).rejects.toThrow('leaving');
    const stays = store.reads.read(B, { since: 0 }, NEVER);
    const call = await store.next();
    leaving.abort(new Error('leaving'));
    await left;
    expect([call.operation, call.signal.aborted]).toEqual(['batch', false]);
    await call.answer();
    expect(await stays).toMatchObject({ secret: { sourcePath: 'b' } });
  });

  it('ends while waiting for the next attempt', async () => {
    const store = new ScriptedStore();
    const leaving = new AbortController();
    const left = expect(store.reads.read(A, { since: 0 }, leaving.signal)).rejects.toThrow('leaving');
    await (await store.next()).fail('transient');
    leaving.abort(new Error('leaving'));
    await left;
    await store.clock.advance(60_000);
    expect(store.calls).toHaveLength(1);
    expect(store.clock.pendingTimers).toBe(0);
  });

  it('ends all reads when the operator stops, keeps no value and reads nothing more', async () => {
    const store = new ScriptedStore();
    store.put('a', 'one', 'v1');
    const done = store.reads.read(A, { since: 0 }, NEVER);
    await (await store.next()).answer();
    await done;
    const waits = expect(store.reads.read(sourceOf('b'), { since: 0 }, NEVER)).rejects.toThrow('stopped');
    const call = await store.next();
    store.stop.abort(new Error('stopped'));
    await waits;
    expect(call.signal.aborted).toBe(true);
    await store.clock.advance(0);
    expect(store.clock.pendingTimers).toBe(0);
    await expect(store.reads.read(A, { since: 0 }, NEVER)).rejects.toThrow('stopped');
  });
});

it('passes on the type and the location of an unexpected error, but not its message', async () => {
  const store = new ScriptedStore();
  const read = store.reads.read(A, { since: 0 }, NEVER).catch((error: unknown) => error);
  await (await store.next()).fail(new SyntaxError('unexpected token\n    at correct horse'));
  const error = await read;
  expect(error).toMatchObject({ kind: 'transient', code: 'Unexpected' });
  expect(String(error)).toContain('cannot read a from scripted because of an internal error (SyntaxError)');
  const [line = ''] = store.logged;
  expect(line).toContain('source-reads-failures.test.ts');
  expect(`${String(error)} ${store.logged.join('')}`).not.toContain('correct horse');
});
