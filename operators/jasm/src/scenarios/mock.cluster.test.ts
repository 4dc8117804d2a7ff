import { Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MOCK_SECRET, type MockEntries, mockSecretData } from '../providers/mock/mock-values.ts';
import { entry, type JasmCluster, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';

let c: JasmCluster;
beforeAll(async () => {
  c = await jasmCluster({ useBuiltInProviders: true, config: { allowAllPaths: true, mock: { enabled: true } } });
});
afterAll(() => c[Symbol.asyncDispose]());

/** hold replaces all secrets of the mock with these. */
async function hold(values: Readonly<Record<string, MockEntries>>): Promise<void> {
  const metadata = { namespace: c.managerNamespace, name: MOCK_SECRET };
  const data = mockSecretData(new Map(Object.entries(values)));
  if (await c.admin.find(Secret, metadata)) await c.admin.patch(Secret, metadata, { type: 'merge', body: { data } });
  else await c.admin.create(Secret, { metadata, data });
}

it('scenario 18 reads a secret of the mock, and its replacement', async () => {
  await hold({ '/prod/db': { user: 'admin', password: 'old' }, 'any text': { a: 'b' } });
  await c.createPod('db', entry('/prod/db', 'db'));
  await c.createPod('any', entry('any text', 'any'));
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ user: 'admin', password: 'old' });
  expect(valuesOf(await c.untilSecret('any'))).toEqual({ a: 'b' });
  await hold({ '/prod/db': { password: 'new' } });
  await c.force('db', '1');
  expect(valuesOf(await c.untilSecret('db', ({ data }) => data?.user === undefined))).toEqual({ password: 'new' });
});

it('scenario 18 reports that the mock has no secret at a path, and how to add it', async () => {
  await c.createPod('unknown', entry('/prod/unknown', 'unknown'));
  const { note } = await c.untilEvent('unknown', 'SecretFetchFailed');
  expect(note).toContain('the mock has no secret at /prod/unknown');
  expect(note).toContain('bowline jasm mock set');
});

it('scenario 18 keeps the Secret when the mock is cleared, and reports that its source does not exist', async () => {
  await hold({ '/prod/cleared': { password: 'x' } });
  await c.createPod('cleared', entry('/prod/cleared', 'cleared'));
  const before = await c.untilSecret('cleared');
  await hold({});
  await c.force('cleared', '1');
  expect((await c.untilEvent('cleared', 'SecretFetchFailed')).note).toContain('/prod/cleared');
  expect(await c.untilSecret('cleared')).toEqual(before);
});

it('scenario 18 does not support the mock unless it is enabled', async () => {
  await using other = await jasmCluster({ useBuiltInProviders: true });
  await other.createPod('web', entry('/prod/db', 'db'));
  const { note } = await other.untilEvent('web', 'ProviderUnsupported');
  expect(note).toContain('aws-secretsmanager');
  expect(note).toContain('kubernetes');
});
