import { createMetrics } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import type { ExternalSecret, SecretProvider } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { entry, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';

/** storeOf returns a store that answers with a function. */
function storeOf(fetchSecret: SecretProvider['fetchSecret']): SecretProvider {
  return { name: 'mock', capabilities: { versions: false, batch: false }, fetchSecret };
}

function secretAt(sourcePath: string): ExternalSecret {
  return { provider: 'mock', sourcePath, payload: { kind: 'text', text: '{}' }, version: undefined };
}

it('counts no sync of a Secret that gets no slot at a hanging store', async () => {
  const metrics = createMetrics({ process: false });
  let answer = (): void => undefined;
  const answers = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const store = storeOf(async ({ path }) => {
    await answers;
    return secretAt(path);
  });
  await using c = await jasmCluster({ stores: [store], metrics });
  const secrets = Array.from({ length: 30 }, (_, index) => `s${index}`);
  const lists = [secrets.slice(0, 15), secrets.slice(15)];
  for (const [index, list] of lists.entries()) {
    await c.createPod(`web-${index}`, { secrets: list.map((name) => entry(`/${name}`, name)) });
  }
  await c.untilCalled(24);
  // A pod with an invalid request gets an event: by then, all others have been examined.
  await c.createPod('wrong', 'no request');
  await c.untilEvent('wrong', 'AnnotationInvalid');
  const synced = async (): Promise<string | undefined> =>
    /^jasm_sync_total\{provider="mock",result="success"\} (\d+)$/m.exec(await metrics.render())?.[1];
  expect(await synced()).toBe('0');
  answer();
  for (const name of secrets) await c.untilSecret(name);
  await expect.poll(synced).toBe('30');
});

it('limits the retry delay that a store requests', async () => {
  let isBusy = true;
  const busy = { kind: 'transient', provider: 'mock', operation: 'read', code: '503', retryAfterMs: 10 ** 9 } as const;
  const store = storeOf(({ path }) =>
    isBusy ? Promise.reject(new ProviderError('the store is busy', busy)) : Promise.resolve(secretAt(path)),
  );
  await using c = await jasmCluster({ stores: [store] });
  await c.createPod('web', entry('/a', 'db'));
  await c.untilEvent('web', 'SecretFetchFailed');
  await c.idle();
  isBusy = false;
  await c.advanceTime(660_000, 60_000);
  await c.untilSecret('db');
});

it('reads a missing source once per retry, however many Secrets request it', async () => {
  await using c = await jasmCluster();
  const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
  for (const list of [names.slice(0, 20), names.slice(20)]) {
    await c.createPod(`web-${list[0]}`, { secrets: list.map((name) => entry('/missing', name)) });
    await c.untilEvent(`web-${list[0]}`, 'SecretFetchFailed');
  }
  await c.idle();
  const calls = c.calls.length;
  // Each pod is a separate reason to read.
  expect(calls).toBeLessThanOrEqual(2);
  // After one, two and four minutes.
  await c.advanceTime(8 * 60_000);
  expect(c.calls.length - calls).toBe(3);
  c.store.addSecret('/missing', { from: 'a' });
  await c.advanceTime(10 * 60_000);
  for (const name of names) await c.untilSecret(name);
});

it('reads a source once for all Secrets that are forced to sync at the same time', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  await c.createPod('web', { secrets: names.map((name) => entry('/a', name)) });
  for (const name of names) await c.untilSecret(name);
  await c.idle();
  const calls = c.calls.length;
  c.store.addSecret('/a', { from: 'b' });
  await c.force('web', 'now');
  for (const name of names) await c.untilSecret(name, (secret) => valuesOf(secret).from === 'b');
  expect(c.calls.slice(calls)).toEqual(['fetchSecret /a']);
});
