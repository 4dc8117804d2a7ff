import { expect, test } from 'vitest';
import { startTestServer } from '../../../in-process.test-support.ts';

test('increments the generation for a change of annotations but not of labels', async () => {
  const { call } = startTestServer();
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  const spec = { selector: { matchLabels: { app: 'a' } }, template };
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
  await call('POST', '/apis/apps/v1/namespaces/n/deployments', { metadata: { name: 'a' }, spec });
  const generations: unknown[] = [];
  for (const metadata of [{ labels: { a: '1' } }, { annotations: { a: '1' } }, { annotations: { a: '1' } }]) {
    const path = '/apis/apps/v1/namespaces/n/deployments/a';
    const type = 'application/strategic-merge-patch+json';
    const { body } = await call('PATCH', path, { metadata }, { 'content-type': type });
    generations.push(body.metadata?.generation);
  }
  expect(generations).toEqual([1, 2, 2]);
});
