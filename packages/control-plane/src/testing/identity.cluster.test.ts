import { Pod } from '@bowline/kubernetes';
import { SelfSubjectReview } from '@bowline/kubernetes/authentication-v1';
import type { Client } from '@bowline/runtime/client';
import { expect, it } from 'vitest';
import { cluster } from './cluster.ts';

async function userOf(client: Client) {
  const { status } = await client.create(SelfSubjectReview, {});
  return status?.userInfo;
}

it('acts as a Pod of a ServiceAccount, which the API server recognizes', async () => {
  await using c = await cluster();
  const { namespace, name: account, identity } = await c.serviceAccount();
  const spec = { serviceAccountName: account, containers: [{ name: 'app', image: 'app' }] };
  await c.admin.create(Pod, { metadata: { namespace, name: 'scanner' }, spec });
  const { metadata, spec: scheduled } = await c.until(Pod, { name: 'scanner' }, (pod) => !!pod.spec?.nodeName);

  const serviceAccount = { namespace, name: account };
  const user = await userOf(await c.clientFor({ serviceAccount, pod: 'scanner' }));
  expect(user?.username).toBe(`system:serviceaccount:${namespace}:${account}`);
  expect(user?.extra).toMatchObject({
    'authentication.kubernetes.io/pod-name': ['scanner'],
    'authentication.kubernetes.io/pod-uid': [metadata?.uid],
    'authentication.kubernetes.io/node-name': [scheduled?.nodeName],
  });
  const unbound = await userOf(await c.clientFor(identity));
  expect(unbound?.extra).not.toHaveProperty(['authentication.kubernetes.io/pod-uid']);
});

it('names the Pod that a token cannot be bound to', async () => {
  await using c = await cluster();
  const { namespace, name } = await c.serviceAccount();
  await expect(c.kubeconfig({ serviceAccount: { namespace, name }, pod: 'gone' })).rejects.toMatchObject({
    code: 'BOWLINE_IDENTITY_UNKNOWN',
    message: `cannot issue a token for the ServiceAccount ${namespace}/${name}: the Pod ${namespace}/gone does not exist; create it first`,
  });
});
