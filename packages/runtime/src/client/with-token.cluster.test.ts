import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Pod } from '@bowline/kubernetes';
import { SelfSubjectReview } from '@bowline/kubernetes/authentication-v1';
import { expect, test } from 'vitest';
import type { Client } from './client.ts';
import { serviceAccountToken } from './service-account-token.ts';

async function userOf(client: Client): Promise<string | undefined> {
  return (await client.create(SelfSubjectReview, {})).status?.userInfo?.username;
}

/** An account that may read ConfigMaps. */
async function reader(c: Cluster) {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  const { namespace, name } = await c.serviceAccount({ rules });
  return { account: { namespace, name }, user: `system:serviceaccount:${namespace}:${name}` };
}

test('acts as the bearer of the token alone', async () => {
  await using c = await cluster();
  const { account, user } = await reader(c);
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'a' } });
  const { token } = await c.admin.requestToken(account);
  await using client = c.admin.withToken(token);
  expect(await userOf(client)).toBe(user);
  expect((await client.list(ConfigMap, { namespace: c.namespace })).items.map((each) => each.metadata?.name)).toContain(
    'a',
  );
  await expect(client.delete(ConfigMap, { namespace: c.namespace, name: 'a' })).rejects.toMatchObject({ status: 403 });
  expect(await userOf(c.admin)).not.toBe(user);
});

test('keeps guards, drops the checks and the field manager of the first client, and is closed separately', async () => {
  await using c = await cluster();
  const { account, user } = await reader(c);
  const refuse = (): never => {
    throw new Error('refused');
  };
  const first = c.admin
    .withFieldManager('first')
    .checked(({ resource }) => (resource?.kind === 'ConfigMap' ? refuse() : undefined))
    .guarded({ assertMayWrite: refuse, writeTimeoutMs: 1_000 });
  const client = first.withToken(serviceAccountToken(first, account));
  expect(client.fieldManager).toBeUndefined();
  expect(await userOf(client)).toBe(user);
  expect(await client.find(ConfigMap, { namespace: c.namespace, name: 'none' })).toBeUndefined();
  await expect(first.find(ConfigMap, { namespace: c.namespace, name: 'none' })).rejects.toThrow('refused');
  await expect(client.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'b' } })).rejects.toThrow(
    'refused',
  );
  await client.close();
  await expect(userOf(client)).rejects.toMatchObject({ code: 'BOWLINE_TRANSPORT_CLOSED' });
  expect(await userOf(first)).toBeDefined();
});

test('is rejected when the token is invalid, and asks the source again', async () => {
  await using c = await cluster();
  const { account, user } = await reader(c);
  const { token } = await c.admin.requestToken(account);
  await using broken = c.admin.withToken('not-a-token');
  await expect(broken.list(ConfigMap, { namespace: c.namespace })).rejects.toMatchObject({ status: 401 });
  const tokens = ['not-a-token', token];
  await using client = c.admin.withToken(() => (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? '');
  expect(await userOf(client)).toBe(user);
});

test('carries the Pod that a token is bound to', async () => {
  await using c = await cluster();
  const { account } = await reader(c);
  const metadata = { namespace: c.namespace, name: 'p' };
  const spec = { serviceAccountName: account.name, containers: [{ name: 'a', image: 'example.test/a' }] };
  const pod = await c.admin.create(Pod, { metadata, spec });
  const boundObject = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: pod.metadata?.uid ?? '' };
  await using client = c.admin.withToken(serviceAccountToken(c.admin, account, { boundObject }));
  const { status } = await client.create(SelfSubjectReview, {});
  expect(status?.userInfo?.extra?.['authentication.kubernetes.io/pod-uid']).toEqual([pod.metadata?.uid]);
});
