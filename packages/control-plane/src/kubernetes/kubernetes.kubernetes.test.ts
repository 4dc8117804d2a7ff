import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  SelfSubjectReview,
  ServiceAccount,
} from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { cluster } from '../testing/cluster.ts';
import { sharedControlPlane } from '../testing/shared-control-plane.ts';

const labels = { app: 'web' };
const pod = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web' }] } };

async function whoAmI(client: Client): Promise<unknown> {
  return (await client.create(SelfSubjectReview, {})).status?.userInfo;
}

describe('a real control plane', () => {
  it('creates a ReplicaSet and Pods for a Deployment', async () => {
    await using c = await cluster();
    await c.admin.create(Deployment, {
      metadata: { name: 'web', namespace: c.namespace },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: pod },
    });
    await c.untilList(ReplicaSet, { labelSelector: 'app=web' }, (sets) => sets.length === 1);
    const pods = await c.untilList(Pod, { labelSelector: 'app=web' }, (items) => items.length === 2);
    // ServiceAccount admission added the namespace's account and its token.
    expect(pods.map((item) => item.spec?.serviceAccountName)).toEqual(['default', 'default']);
  });

  it('schedules a Pod onto a Node', async () => {
    await using c = await cluster();
    const name = c.uniqueName('node');
    const taint = { key: 'test.bowline.dev/node', value: name, effect: 'NoSchedule' } as const;
    c.onDispose(() => c.admin.delete(Node, { name }));
    await c.admin.create(Node, {
      metadata: { name, labels: { 'test.bowline.dev/node': name } },
      spec: { taints: [taint] },
    });
    const capacity = { cpu: '1', memory: '1Gi', pods: '10' };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { capacity, allocatable: capacity, conditions };
    await c.admin.patch(Node, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    // The node controller taints a node that was not ready when first observed; tolerate everything.
    const spec = {
      ...pod.spec,
      nodeSelector: { 'test.bowline.dev/node': name },
      tolerations: [{ operator: 'Exists' as const }],
    };
    await c.until(ServiceAccount, { name: 'default' }, () => true);
    await c.admin.create(Pod, { metadata: { name: 'web', namespace: c.namespace, labels }, spec });
    const scheduled = await c.until(Pod, { name: 'web' }, (item) => item.spec?.nodeName !== undefined);
    expect(scheduled.spec?.nodeName).toBe(name);
  });

  it('rejects blockOwnerDeletion without permission to set finalizers of the owner', async () => {
    await using c = await cluster();
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get'] }];
    const { client } = await c.serviceAccount({ rules });
    const owner = await c.admin.create(Deployment, {
      metadata: { name: 'owner', namespace: c.namespace },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: pod },
    });
    const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'owner', uid: owner.metadata?.uid ?? '' };
    const child = (name: string, blockOwnerDeletion: boolean): ConfigMap => ({
      metadata: { name, namespace: c.namespace, ownerReferences: [{ ...reference, blockOwnerDeletion }] },
    });
    await client.create(ConfigMap, child('free', false));
    await expect(client.create(ConfigMap, child('blocking', true))).rejects.toMatchObject({
      code: 'BOWLINE_API_FORBIDDEN',
      message: expect.stringContaining('cannot set blockOwnerDeletion'),
    });
  });

  it('authenticates users, groups and ServiceAccounts, and allows only what their roles grant', async () => {
    await using c = await cluster();
    const user = await c.clientFor({ user: 'ann', groups: ['writers', 'readers'] });
    expect(await whoAmI(user)).toMatchObject({
      username: 'ann',
      groups: expect.arrayContaining(['writers', 'readers']),
    });
    await expect(user.list(ConfigMap, { namespace: c.namespace })).rejects.toMatchObject({
      code: 'BOWLINE_API_FORBIDDEN',
    });

    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    const account = await c.serviceAccount({ rules });
    const username = `system:serviceaccount:${account.namespace}:${account.name}`;
    expect(await whoAmI(account.client)).toMatchObject({ username });
    expect((await account.client.list(ConfigMap, { namespace: c.namespace })).kind).toBe('ConfigMapList');
    await expect(account.client.list(ConfigMap)).rejects.toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' });
  });

  it('reports a ServiceAccount that does not exist', async () => {
    await using c = await cluster();
    const identity = { serviceAccount: { namespace: c.namespace, name: 'nobody' } };
    await expect(c.kubeconfig(identity)).rejects.toMatchObject({
      code: 'BOWLINE_IDENTITY_UNKNOWN',
      message: expect.stringContaining(`${c.namespace}/nobody: it does not exist`),
    });
  });

  it('records requests as audit events', async () => {
    await using c = await cluster();
    const since = systemClock.now();
    const user = await c.clientFor({ user: c.uniqueName('ann') });
    await user.get(ConfigMap, { namespace: c.namespace, name: 'secret-plans' }).catch(() => {});
    await c.admin.create(ConfigMap, { metadata: { name: 'plans', namespace: c.namespace } });
    const events = (await c.controlPlane.audit(since)).filter((event) => event.objectRef?.namespace === c.namespace);
    expect(events.filter((event) => event.objectRef?.name?.includes('plans'))).toEqual([
      expect.objectContaining({
        verb: 'get',
        stage: 'ResponseComplete',
        user: expect.objectContaining({ username: expect.stringMatching(/^ann-/) }),
        responseStatus: expect.objectContaining({ code: 403 }),
      }),
      expect.objectContaining({
        verb: 'create',
        user: expect.objectContaining({ username: 'admin' }),
        objectRef: expect.objectContaining({ resource: 'configmaps', name: 'plans' }),
        responseStatus: expect.objectContaining({ code: 201 }),
        requestReceivedTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
    ]);
    expect(await c.controlPlane.audit(systemClock.now() + 60_000)).toEqual([]);
  });

  it('removes the objects of a test when its cluster is disposed', async () => {
    await using outer = await cluster();
    // A control plane that is passed may be used after the run, so that nothing of the test may remain.
    const inner = await cluster({ controlPlane: await sharedControlPlane() });
    const account = await inner.serviceAccount({
      clusterRules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    });
    await inner[Symbol.asyncDispose]();
    const left = (await outer.admin.list(Namespace)).items.filter((item) => item.metadata?.name === inner.namespace);
    expect(left.filter((item) => item.metadata?.deletionTimestamp === undefined)).toEqual([]);
    for (const kind of [ClusterRole, ClusterRoleBinding]) {
      const names = (await outer.admin.list(kind)).items.map((item) => item.metadata?.name ?? '');
      expect(names.filter((name) => name.startsWith(account.name))).toEqual([]);
    }
  });
});
