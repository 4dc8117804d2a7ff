import { Namespace, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import { entry, type JasmCluster, jasmCluster, secretKey, valuesOf } from '../testing/jasm-cluster.test-support.ts';

const MINUTE_MS = 60_000;

let c: JasmCluster;
beforeAll(async () => {
  c = await jasmCluster();
});
afterAll(() => c[Symbol.asyncDispose]());

const permit = (paths: string | null): Promise<Namespace> =>
  c.admin.patch(
    Namespace,
    { name: c.namespace },
    { type: 'merge', body: { metadata: { annotations: { [NAMESPACE_ANNOTATIONS.permittedPaths]: paths } } } },
  );

const callsFor = (path: string): readonly string[] => c.calls.filter((call) => call.endsWith(` ${path}`));

describe('permitted-paths', () => {
  it('scenario 15 refuses a path that the namespace does not permit, without a call, until it does', async () => {
    c.store.addSecret('/shop/db', { password: 'x' });
    c.store.addSecret('/bank/db', { password: 'y' });
    await permit('/shop/*, /shared/**');
    await c.ask('shop', entry('/shop/db', 'shop'));
    await c.untilSecret('shop');
    await c.ask('bank', entry('/bank/db', 'bank'));
    const { type, note } = await c.untilEvent('bank', 'PathNotPermitted');
    expect(type).toBe('Warning');
    expect(note).toContain(NAMESPACE_ANNOTATIONS.permittedPaths);
    await c.idle();
    expect(callsFor('/bank/db')).toEqual([]);
    expect(await c.admin.find(Secret, secretKey(c, 'bank'))).toBeUndefined();
    await permit('/bank/db');
    await c.untilSecret('bank');
  });

  it('scenario 15 leaves what it brought when permission is taken away, and does not look at its source again', async () => {
    await permit(null);
    c.store.addSecret('/late/db', { password: 'old' });
    await c.ask('late', entry('/late/db', 'late', { refreshInterval: '1m' }));
    const before = await c.untilSecret('late');
    await permit('/other/*');
    await c.untilEvent('late', 'PathNotPermitted');
    const calls = callsFor('/late/db').length;
    c.store.addSecret('/late/db', { password: 'new' });
    await c.force('late', 'now');
    await c.pass(10 * MINUTE_MS);
    expect(callsFor('/late/db')).toHaveLength(calls);
    expect(await c.admin.get(Secret, secretKey(c, 'late'))).toEqual(before);
    await permit(null);
    await c.untilSecret('late', (secret) => valuesOf(secret).password === 'new');
  });
});

describe('refreshInterval', () => {
  it('scenario 15 looks at a source once per interval, and writes only when it has changed', async () => {
    await permit(null);
    c.store.addSecret('/fresh', { password: 'old' });
    c.store.addSecret('/still', { password: 'x' });
    await c.ask('still', entry('/still', 'still'));
    await c.ask('fresh', entry('/fresh', 'fresh', { refreshInterval: '1m' }));
    const before = await c.untilSecret('fresh');
    await c.untilSecret('still');
    await c.idle();
    const calls = c.calls.length;
    for (let minute = 1; minute <= 10; minute++) {
      await c.pass(MINUTE_MS);
      expect(callsFor('/fresh').slice(1), `after ${minute} minutes`).toEqual(
        Array<string>(minute).fill('probeVersion /fresh'),
      );
    }
    expect(c.calls.slice(calls).filter((call) => !call.endsWith(' /late/db'))).toEqual(callsFor('/fresh').slice(1));
    expect(await c.admin.get(Secret, secretKey(c, 'fresh'))).toEqual(before);
    c.store.addSecret('/fresh', { password: 'new' });
    await c.pass(MINUTE_MS);
    expect(valuesOf(await c.admin.get(Secret, secretKey(c, 'fresh')))).toEqual({ password: 'new' });
    expect(callsFor('/fresh').slice(11)).toEqual(['probeVersion /fresh', 'fetchSecret /fresh']);
  });

  it('scenario 15 shares a look between Secrets of one source', async () => {
    c.store.addSecret('/many', { password: 'x' });
    const names = ['many-1', 'many-2', 'many-3'];
    for (const name of names) await c.ask(name, entry('/many', name, { refreshInterval: '1m' }));
    for (const name of names) await c.untilEvent(name, 'SecretSyncSuccess');
    await c.idle();
    const calls = callsFor('/many').length;
    await c.pass(5 * MINUTE_MS);
    expect(callsFor('/many').slice(calls)).toEqual(Array<string>(5).fill('probeVersion /many'));
  });
});
