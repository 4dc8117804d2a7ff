import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { admit, defineOperator, validating } from '@bowline/runtime';
import { expect, test } from 'vitest';

test('a patch without a resource version succeeds, however often the object changes while a webhook reviews it', async () => {
  let reviews = 0;
  const contest = validating(ConfigMap, { name: 'contest', operations: ['UPDATE'] }).handle(async ({ object }) => {
    if (object.data?.by !== 'us' || ++reviews > 10) return admit();
    // Another client writes, which the API server notices only when the review is over.
    const body = { data: { others: `${reviews}`, by: null } };
    await c.admin.patch(ConfigMap, key, { type: 'merge', body });
    return admit();
  });
  const operator = defineOperator({ name: 'contest', domain: 'example.com', resources: [], webhooks: [contest] });
  await using c = await cluster({ prefix: 'contested', operators: [operator] });
  const key = { namespace: c.namespace, name: 'a' };
  await c.admin.create(ConfigMap, { metadata: key });
  const { data } = await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { by: 'us' } } });
  expect(data).toEqual({ by: 'us', others: '10' });
});
