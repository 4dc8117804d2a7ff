import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { expect, test } from 'vitest';

test('all pages show the state of the first page, regardless of later changes', async () => {
  await using c = await cluster();
  const names = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const labels = { page: 'yes' };
  await forEachConcurrently(names, 8, (name) =>
    c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name, labels }, data: { at: 'first' } }),
  );
  const found: string[] = [];
  const sizes: number[] = [];
  const versions = new Set<string | undefined>();
  const options = { namespace: c.namespace, labelSelector: 'page=yes', pageSize: 10 };
  for await (const page of c.admin.pages(ConfigMap, options)) {
    sizes.push(page.items.length);
    versions.add(page.metadata.resourceVersion);
    for (const { kind, metadata, data } of page.items) {
      expect(kind).toBe('ConfigMap');
      found.push(`${metadata?.name} ${data?.at}`);
    }
    if (sizes.length > 1) continue;
    const at = (name: string) => ({ namespace: c.namespace, name });
    await c.admin.delete(ConfigMap, at('n20'));
    await c.admin.create(ConfigMap, { metadata: { ...at('n99'), labels }, data: { at: 'second' } });
    await c.admin.patch(ConfigMap, at('n24'), { type: 'merge', body: { data: { at: 'second' } } });
  }
  expect(sizes).toEqual([10, 10, 5]);
  expect(found).toEqual(names.map((name) => `${name} first`));
  expect(versions.size).toBe(1);
});
