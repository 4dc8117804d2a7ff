import { cluster } from '@bowline/control-plane/testing';
import { expect, it, vi } from 'vitest';
import { Checkout } from './checkout.ts';
import { git } from './operator.ts';

it('reconciles only the Checkouts of a repository when it is pushed to', async () => {
  const heads = new Map([
    ['shop', 'r1'],
    ['blog', 'r1'],
  ]);
  const queried: string[] = [];
  const operator = git({
    headOf: async (repository) => {
      queried.push(repository);
      return heads.get(repository);
    },
  });
  await using c = await cluster({ operators: [operator], prefix: 'pushes' });
  // The blog is first: when the shops were reconciled, the event of its own status update has been delivered too.
  for (const [name, repository] of [
    ['blog', 'blog'],
    ['shop-1', 'shop'],
    ['shop-2', 'shop'],
  ] as const) {
    const metadata = { namespace: c.namespace, name };
    await c.admin.create(Checkout, Checkout.withDefaults({ metadata, spec: { repository } }));
    await c.until(Checkout, { name }, ({ status }) => status?.revision === 'r1');
  }
  await c.idle();

  queried.length = 0;
  heads.set('shop', 'r2');
  const port = await vi.waitUntil(() => c.manager.status()[0]?.services[0]?.port);
  const response = await fetch(`http://127.0.0.1:${port}/?repository=shop`, { method: 'POST' });
  expect(response.status).toBe(202);
  for (const name of ['shop-1', 'shop-2']) await c.until(Checkout, { name }, ({ status }) => status?.revision === 'r2');
  expect(queried).not.toContain('blog');
});
