import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { type JasmCluster, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { shortDelays, untilAttempted } from './attempts.test-support.ts';
import { openVault, type VaultBackend } from './vault-backend.test-support.ts';

const metrics = createMetrics({ process: false });

let vault: VaultBackend;
let c: JasmCluster;
beforeAll(async () => {
  vault = await openVault();
  c = await jasmCluster({
    useBuiltInProviders: true,
    metrics,
    random: shortDelays(),
    config: { policy: [{ namespaces: ['**'], provider: 'vault', paths: ['secret/shop/*'] }], vault: vault.section },
  });
}, 1_800_000);
afterAll(async () => {
  await c[Symbol.asyncDispose]();
  await vault[Symbol.asyncDispose]();
});

const fromVault = (path: string, secretName: string) => ({ provider: 'vault', path, secretName });

/** calls returns the number of successful calls to Vault so far, by operation. */
async function calls(): Promise<Readonly<Record<string, number>>> {
  const lines = (await metrics.render()).matchAll(/^jasm_provider_api_calls_total\{(.*)\} (\d+)$/gm);
  return Object.fromEntries(
    [...lines].flatMap(([, labels = '', count]) => {
      const operation = /operation="(\w+)"/.exec(labels)?.[1] ?? '';
      return labels.includes('code="OK"') ? [[operation, Number(count)] as const] : [];
    }),
  );
}

it('scenarios 01 and 04 deliver a secret of Vault, and its next version when a new pod requests it', async () => {
  await vault.put('shop/db', { user: 'shop', port: 5432, gone: 'soon' });
  await c.createPod('web', fromVault('secret/data/shop/db', 'db'));
  const first = await c.untilSecret('db');
  expect(valuesOf(first)).toEqual({ user: 'shop', port: '5432', gone: 'soon' });
  expect(first.metadata).toMatchObject({
    labels: { [SECRET_LABELS.provider]: 'vault' },
    annotations: { [SECRET_ANNOTATIONS.sourcePath]: 'secret/data/shop/db' },
  });
  await vault.put('shop/db', { user: 'shop', port: 5433 });
  await c.createPod('web-2', fromVault('secret/data/shop/db', 'db'));
  const second = await c.untilSecret('db', ({ data }) => data?.gone === undefined);
  expect(valuesOf(second)).toEqual({ user: 'shop', port: '5433' });
  const versionOf = ({ metadata }: typeof first) => metadata?.annotations?.[SECRET_ANNOTATIONS.version];
  expect(versionOf(second)).not.toBe(versionOf(first));
});

it('scenario 07 reports that Vault has no such secret, and delivers it when it exists', async () => {
  await c.createPod('early', fromVault('secret/shop/early', 'early'));
  expect((await c.untilEvent('early', 'SecretFetchFailed')).note).toContain('secret/data/shop/early');
  await vault.put('shop/early', { a: 'b' });
  await c.advanceTime(70_000);
  await c.untilSecret('early');
});

const untilAsked = (name: string, times: number): Promise<void> =>
  untilAttempted(c.clock, () => vault.callsFor(name), times);

it('scenario 08 recovers from five different faults of Vault and the network without a warning', async () => {
  await vault.put('shop/shaky', { a: 'b' });
  vault.fail(
    'shop/shaky',
    { kind: 'answer', status: 500 },
    { kind: 'drop', when: 'before' },
    { kind: 'answer', status: 503 },
    { kind: 'drop', when: 'answer' },
    { kind: 'answer', status: 429 },
  );
  await c.createPod('shaky', fromVault('secret/shop/shaky', 'shaky'));
  await untilAsked('shop/shaky', 6);
  await c.untilSecret('shaky');
  await c.untilEvent('shaky', 'SecretSyncSuccess');
  expect(await c.events('shaky')).toEqual(['Normal SecretSyncSuccess']);
});

it('scenario 08 ends a call to Vault after 30 s, and retries it', async () => {
  await vault.put('shop/stuck', { a: 'b' });
  vault.fail('shop/stuck', { kind: 'half-open' });
  await c.createPod('stuck', fromVault('secret/shop/stuck', 'stuck'));
  await untilAsked('shop/stuck', 1);
  await c.clock.advance(30_000);
  await untilAsked('shop/stuck', 2);
  await c.untilSecret('stuck');
});

it('scenario 08 calls Vault at most six times, and warns once', async () => {
  await vault.put('shop/down', { a: 'b' });
  vault.fail('shop/down', ...Array.from({ length: 6 }, () => ({ kind: 'answer', status: 500 }) as const));
  await c.createPod('down', fromVault('secret/shop/down', 'down'));
  await untilAsked('shop/down', 6);
  expect((await c.untilEvent('down', 'SecretFetchFailed')).note).toMatch(
    /temporarily unavailable for .* \(status 500\); it is retried$/,
  );
  await c.idle();
  expect(vault.callsFor('shop/down')).toHaveLength(6);
  await c.clock.advance(1_000);
  await c.untilSecret('down');
  await c.untilEvent('down', 'SecretSyncSuccess');
  expect((await c.events('down')).toSorted()).toEqual(['Normal SecretSyncSuccess', 'Warning SecretFetchFailed']);
});

it('scenario 15 reads no path that the policy does not allow, however it is written', async () => {
  await vault.put('bank/db', { password: 'x' });
  for (const [pod, path] of [
    ['data', 'secret/data/bank/db'],
    ['logical', 'secret/bank/db'],
  ] as const) {
    await c.createPod(pod, fromVault(path, 'bank'));
    await c.untilEvent(pod, 'PathNotPermitted');
  }
  await c.createPod('up', fromVault('secret/data/shop/../bank/db', 'bank'));
  await c.untilEvent('up', 'AnnotationInvalid');
});

it('scenario 16 reads one version per secret from Vault after a restart, and writes nothing', async () => {
  await c.createPod('shared', fromVault('secret/shop/db', 'shared'));
  await c.untilEvent('shared', 'SecretSyncSuccess');
  await c.idle();
  await c.stop();
  const since = Date.now();
  const before = await calls();
  await c.restart();
  await c.idle();
  const after = await calls();
  const made = Object.fromEntries(
    Object.entries(after).map(([operation, count]) => [operation, count - (before[operation] ?? 0)]),
  );
  // db, which two Secrets share, early, and the three of scenario 08.
  expect(made).toEqual({ ReadMetadata: 5, ReadSecret: 0 });
  // A new process repeats events that still apply: a requester without permission is notified again.
  expect((await c.writes(since)).filter((write) => !write.includes(' events '))).toEqual([]);
});
