import { Namespace, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import { secretKey, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

const MINUTE_MS = 60_000;

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const permit = (paths: string | null): Promise<Namespace> =>
  c.admin.patch(
    Namespace,
    { name: c.namespace },
    { type: 'merge', body: { metadata: { annotations: { [NAMESPACE_ANNOTATIONS.permittedPaths]: paths } } } },
  );

describe('permitted-paths', () => {
  it('scenario 15 denies a path that the namespace does not permit, without a call, until it is permitted', async () => {
    await c.aws.put(c.path('shop/db'), { password: 'x' });
    await c.aws.put(c.path('bank/db'), { password: 'y' });
    await permit(`${c.path('shop')}/*, /shared/**`);
    await c.createPod('shop', c.fromAws('shop/db', { secretName: 'shop' }));
    await c.untilSecret('shop');
    await c.createPod('bank', c.fromAws('bank/db', { secretName: 'bank' }));
    const { type, note } = await c.untilEvent('bank', 'PathNotPermitted');
    expect(type).toBe('Warning');
    expect(note).toContain(NAMESPACE_ANNOTATIONS.permittedPaths);
    await c.idle();
    expect(c.callsFor('bank/db')).toEqual([]);
    expect(await c.admin.find(Secret, secretKey(c, 'bank'))).toBeUndefined();
    await permit(c.path('bank/db'));
    await c.untilSecret('bank');
  });

  it('scenario 15 keeps the Secret when permission is revoked, and does not check its source again', async () => {
    await permit(null);
    await c.aws.put(c.path('late/db'), { password: 'old' });
    await c.createPod('late', c.fromAws('late/db', { secretName: 'late', refreshInterval: '1m' }));
    const before = await c.untilSecret('late');
    await permit('/other/*');
    await c.untilEvent('late', 'PathNotPermitted');
    const calls = c.callsFor('late/db').length;
    await c.aws.put(c.path('late/db'), { password: 'new' });
    await c.force('late', 'now');
    await c.advanceTime(10 * MINUTE_MS);
    expect(c.callsFor('late/db')).toHaveLength(calls);
    expect(await c.admin.get(Secret, secretKey(c, 'late'))).toEqual(before);
    await permit(null);
    await c.untilSecret('late', (secret) => valuesOf(secret).password === 'new');
  });
});

describe('refreshInterval', () => {
  it('scenario 15 checks a source once per interval, and writes only when it has changed', async () => {
    await permit(null);
    await c.aws.put(c.path('fresh'), { password: 'old' });
    await c.aws.put(c.path('still'), { password: 'x' });
    await c.createPod('still', c.fromAws('still'));
    await c.createPod('fresh', c.fromAws('fresh', { refreshInterval: '1m' }));
    const before = await c.untilSecret('fresh');
    await c.untilSecret('still');
    await c.idle();
    const calls = c.calls.length;
    for (let minute = 1; minute <= 10; minute++) {
      await c.advanceTime(MINUTE_MS);
      expect(c.callsFor('fresh').slice(1), `after ${minute} minutes`).toEqual(
        Array<string>(minute).fill('DescribeSecret'),
      );
    }
    const others = c.calls.slice(calls).filter((call) => !call.endsWith(` ${c.path('late/db')}`));
    expect(new Set(others)).toEqual(new Set([`DescribeSecret ${c.path('fresh')}`]));
    expect(await c.admin.get(Secret, secretKey(c, 'fresh'))).toEqual(before);
    await c.aws.put(c.path('fresh'), { password: 'new' });
    await c.advanceTime(MINUTE_MS);
    expect(valuesOf(await c.admin.get(Secret, secretKey(c, 'fresh')))).toEqual({ password: 'new' });
    expect(c.callsFor('fresh').slice(11)).toEqual(['DescribeSecret', 'GetSecretValue']);
  });

  it('scenario 15 shares a check between Secrets of one source', async () => {
    await c.aws.put(c.path('many'), { password: 'x' });
    const names = ['many-1', 'many-2', 'many-3'];
    for (const name of names) await c.createPod(name, c.fromAws('many', { secretName: name, refreshInterval: '1m' }));
    for (const name of names) await c.untilEvent(name, 'SecretSyncSuccess');
    await c.idle();
    const calls = c.callsFor('many').length;
    await c.advanceTime(5 * MINUTE_MS);
    expect(c.callsFor('many').slice(calls)).toEqual(Array<string>(5).fill('DescribeSecret'));
  });
});
