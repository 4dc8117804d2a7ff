import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type PolicyRule } from '@bowline/kubernetes';
import { describe, expect, it, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { controller } from '../controller/builder.ts';
import { createWriter } from '../writing/writer.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator } from './operator.ts';

const byName: PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: ['wanted'],
  verbs: ['get', 'create', 'patch'],
};

/** limited returns a client of an account with these rules, once the API server has seen them. */
async function limited(c: Cluster, rules: readonly PolicyRule[]): Promise<Client> {
  const { client } = await c.serviceAccount({ rules });
  const question = { verb: 'patch', group: '', resource: 'configmaps', namespace: c.namespace, name: 'wanted' };
  await vi.waitFor(async () => expect((await client.canI(question)).allowed).toBe(true), { timeout: 20_000 });
  return client;
}

const writing = (client: Client) =>
  createWriter({ client, fieldManager: 'test', ownership: { labels: { 'example.com/owner': 'test' } } });
const refused = expect.objectContaining({ code: 'BOWLINE_API_FORBIDDEN' });

describe('the right to create by name', () => {
  it('permits a creation by server-side apply under this name, and none by POST', async () => {
    await using c = await cluster();
    const client = await limited(c, [byName]);
    const { namespace } = c;
    const { outcome } = await writing(client).apply(ConfigMap, { metadata: { namespace, name: 'wanted' } });
    expect(outcome).toBe('created');
    await c.admin.delete(ConfigMap, { namespace, name: 'wanted' });
    await expect(client.create(ConfigMap, { metadata: { namespace, name: 'wanted' } })).rejects.toEqual(refused);
  });

  it('is needed for a creation by server-side apply', async () => {
    await using c = await cluster();
    const client = await limited(c, [{ ...byName, verbs: ['get', 'patch'] }]);
    const object = { metadata: { namespace: c.namespace, name: 'wanted' } };
    await expect(writing(client).apply(ConfigMap, object)).rejects.toEqual(refused);
  });

  it('permits no other name, also not with the right to patch it', async () => {
    await using c = await cluster();
    const client = await limited(c, [
      { ...byName, verbs: ['create'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] },
    ]);
    const object = { metadata: { namespace: c.namespace, name: 'other' } };
    await expect(writing(client).apply(ConfigMap, object)).rejects.toEqual(refused);
  });
});

it('an operator creates, changes and removes the objects whose names it declares', async () => {
  const named = controller(ConfigMap, { name: 'named', labelSelector: 'source' })
    .applies(ConfigMap, { names: ['wanted'], remove: true })
    .reconcile(async ({ object, key, apply, remove }) => {
      const target = { namespace: key.namespace, name: 'wanted' };
      const labels = { 'example.com/owner': 'named' };
      if (object.data?.text === undefined) await remove(ConfigMap, target, { labels });
      else await apply(ConfigMap, { metadata: target, data: object.data }, { owner: null, labels });
    });
  const operator = defineOperator({ name: 'named', domain: 'example.com', controllers: [named] });
  expect(permissionsOf(operator).cluster).toContainEqual({ ...byName, verbs: ['create', 'patch', 'delete'] });
  await using c = await cluster({ operators: [operator] });
  const { namespace } = c;
  const source = { namespace, name: 'source' };
  await c.admin.create(ConfigMap, { metadata: { ...source, labels: { source: '' } }, data: { text: 'a' } });
  await c.until(ConfigMap, { name: 'wanted' }, ({ data }) => data?.text === 'a');
  await c.admin.patch(ConfigMap, source, { type: 'merge', body: { data: { text: 'b' } } });
  await c.until(ConfigMap, { name: 'wanted' }, ({ data }) => data?.text === 'b');
  await c.admin.patch(ConfigMap, source, { type: 'merge', body: { data: { text: null } } });
  await c.untilGone(ConfigMap, { name: 'wanted' });
});
