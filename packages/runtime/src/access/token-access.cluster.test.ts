import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Lease, ServiceAccount, SubjectAccessReview, TokenReview } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { Manager } from '../manager/manager.ts';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { TokenAccess } from './token-access.ts';

const AUDIENCE = 'shop-api';
const reviews = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

/** A ServiceAccount that may get ConfigMaps, and its tokens. */
async function caller(c: Cluster) {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
  const { namespace, name } = await c.serviceAccount({ rules });
  const header = async (...audiences: string[]): Promise<string> => {
    const { token } = await c.admin.requestToken({ namespace, name }, { audiences });
    return `Bearer ${token}`;
  };
  return { namespace, name, user: `system:serviceaccount:${namespace}:${name}`, header };
}

const configMaps = (namespace: string, verb: string) => ({ verb, resource: 'configmaps', namespace, name: 'a' });

it('allows the bearer of a token of its audience what RBAC allows, and nothing to other tokens', async () => {
  await using c = await cluster();
  const { client } = await c.serviceAccount({ clusterRules: reviews });
  const { namespace, name, user, header } = await caller(c);
  const access = new TokenAccess({ client, audiences: [AUDIENCE] });
  const get = configMaps(namespace, 'get');

  const ours = await header(AUDIENCE);
  expect(await access.decide(ours, get)).toMatchObject({ verdict: 'allowed', user: { user } });
  expect(await access.decide(ours, configMaps(namespace, 'update'))).toMatchObject({ verdict: 'forbidden' });
  expect(await access.decide(ours, { verb: 'get', path: '/shop-reports' })).toMatchObject({ verdict: 'forbidden' });
  const unauthenticated = { verdict: 'unauthenticated' };
  expect(await access.decide(await header('another'), get)).toEqual(unauthenticated);
  expect(await access.decide(await header(), get)).toEqual(unauthenticated);
  expect(await access.decide('Bearer not-a-token', get)).toEqual(unauthenticated);
  // A token of an account that was deleted is no longer valid.
  const later = await header(AUDIENCE, 'second');
  await c.admin.delete(ServiceAccount, { namespace, name });
  const decideAfresh = () => new TokenAccess({ client, audiences: [AUDIENCE] }).decide(later, get);
  await expect.poll(decideAfresh).toEqual(unauthenticated);
});

it('accepts tokens of the API server if it has no audiences', async () => {
  await using c = await cluster();
  const { client } = await c.serviceAccount({ clusterRules: reviews });
  const { namespace, header } = await caller(c);
  const access = new TokenAccess({ client });
  expect(await access.decide(await header(), configMaps(namespace, 'get'))).toMatchObject({ verdict: 'allowed' });
  expect(await access.decide(await header(AUDIENCE), configMaps(namespace, 'get'))).toEqual({
    verdict: 'unauthenticated',
  });
});

it('throws without permission to create reviews', async () => {
  await using c = await cluster();
  const { client } = await c.serviceAccount();
  const { namespace, header } = await caller(c);
  const access = new TokenAccess({ client, audiences: [AUDIENCE] });
  await expect(access.decide(await header(AUDIENCE), configMaps(namespace, 'get'))).rejects.toMatchObject({
    code: 'BOWLINE_ACCESS_REVIEW',
    cause: { status: 403 },
  });
});

it('works in a service of a replica that does not lead', async () => {
  await using c = await cluster();
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] };
  const { client } = await c.serviceAccount({ rules: [leases], clusterRules: reviews });
  const { namespace, header } = await caller(c);
  const authorization = await header(AUDIENCE);
  const now = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 3600, acquireTime: now, renewTime: now };
  await c.admin.create(Lease, { metadata: { namespace: c.namespace, name: 'bowline-api' }, spec });

  const results: unknown[] = [];
  const operator = defineOperator({
    name: 'api',
    domain: 'bowline.dev',
    permissions: [allow(['create'], TokenReview), allow(['create'], SubjectAccessReview), allow(['create'], ConfigMap)],
    setup: ({ client: own }) => ({ own, access: new TokenAccess({ client: own, audiences: [AUDIENCE] }) }),
    services: [
      {
        name: 'api',
        run: async (_, { own, access }) => {
          const decision = await access.decide(authorization, configMaps(namespace, 'get'));
          const write = own.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'x' } });
          const refusal = await write.catch((error: unknown) => error);
          results.push(decision, refusal);
        },
      },
    ],
  });
  const manager = new Manager({
    operators: [operator],
    clientFor: () => client,
    namespace: c.namespace,
    healthAddress: '0',
    metricsAddress: '0',
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  try {
    await expect
      .poll(() => results, { timeout: 30_000 })
      .toMatchObject([{ verdict: 'allowed' }, { code: 'BOWLINE_NOT_LEADER' }]);
    expect(manager.status()).toMatchObject([{ state: 'standby' }]);
  } finally {
    stop.abort();
    await running;
  }
});
