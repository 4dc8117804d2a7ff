import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NOTICE, postNotices } from './notices.ts';

const signal = AbortSignal.timeout(60_000);

it('posts a notice, updates its text, and sends one list request when nothing changed', async () => {
  await using c = await cluster({ prefix: 'notices' });
  const requests: string[] = [];
  const client = c.admin.checked(({ verb }) => void requests.push(verb));
  const namespaces = [c.namespace, await c.createNamespace('notices')];
  expect(await postNotices(client, namespaces, 'closed on Friday', signal)).toEqual(['created', 'created']);
  expect(await postNotices(client, namespaces, 'open again', signal)).toEqual(['configured', 'configured']);

  requests.length = 0;
  expect(await postNotices(client, namespaces, 'open again', signal)).toEqual(['unchanged', 'unchanged']);
  expect(new Set(requests)).toEqual(new Set(['watch']));
  const { data, metadata } = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'notice' });
  expect(data).toEqual({ text: 'open again' });
  expect(metadata?.labels).toEqual(NOTICE);
});

it('does not change a ConfigMap that is not a notice', async () => {
  await using c = await cluster({ prefix: 'notices' });
  const key = { namespace: c.namespace, name: 'notice' };
  await c.admin.create(ConfigMap, { metadata: key, data: { text: 'theirs' } });
  await expect(postNotices(c.admin, [c.namespace], 'ours', signal)).rejects.toMatchObject({
    code: 'BOWLINE_FOREIGN_OBJECT',
  });
  expect((await c.admin.get(ConfigMap, key)).data).toEqual({ text: 'theirs' });
});
