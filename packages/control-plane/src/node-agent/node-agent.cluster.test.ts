import {
  ClusterRole,
  ClusterRoleBinding,
  Lease,
  Node,
  Pod,
  Role,
  RoleBinding,
  ServiceAccount,
} from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { expect, it, vi } from 'vitest';
import { type Cluster, cluster } from '../testing/cluster.ts';
import { nodeAgentRbac } from './rbac.ts';
import { type NodeAgent, type NodeAgentOptions, startNodeAgent } from './start-node-agent.ts';

/** agentClient acts as a ServiceAccount with exactly the permissions that an agent declares. */
async function agentClient(c: Cluster): Promise<Client> {
  const account = await c.serviceAccount();
  const subject = { kind: 'ServiceAccount', namespace: account.namespace, name: account.name };
  const rbac = nodeAgentRbac(c.uniqueName('agent'), subject);
  await c.admin.create(ClusterRole, rbac.clusterRole);
  await c.admin.create(ClusterRoleBinding, rbac.clusterRoleBinding);
  await c.admin.create(Role, rbac.role);
  await c.admin.create(RoleBinding, rbac.roleBinding);
  const { name = '', namespace } = rbac.role.metadata ?? {};
  c.onDispose(() => c.admin.delete(RoleBinding, { namespace, name }));
  c.onDispose(() => c.admin.delete(Role, { namespace, name }));
  c.onDispose(() => c.admin.delete(ClusterRoleBinding, { name }));
  c.onDispose(() => c.admin.delete(ClusterRole, { name }));
  const lease = { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease' };
  for (const question of [{ verb: 'create', resource: 'nodes' }, lease]) {
    await vi.waitUntil(async () => (await account.client.canI(question)).allowed, { timeout: 20_000 });
  }
  return account.client;
}

/** start runs a separate agent for the test, with one node that gets only the test's Pods. */
async function start(c: Cluster, options: Partial<NodeAgentOptions> = {}): Promise<{ agent: NodeAgent; node: string }> {
  const name = c.uniqueName('agent');
  const taints = [{ key: 'test.bowline.dev/reserved', value: name, effect: 'NoSchedule' } as const];
  const agent = await startNodeAgent({
    client: c.admin,
    name,
    nodes: [{ name: `${name}-node`, taints }],
    network: '10.245.0.0/24',
    ...options,
  });
  return { agent, node: `${name}-node` };
}

async function createPod(c: Cluster, nodeName: string, name = 'web'): Promise<void> {
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  await c.admin.create(Pod, {
    metadata: { name, namespace: c.namespace },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'example.test/main' }],
      tolerations: [{ operator: 'Exists' }],
    },
  });
}

const untilReady = (c: Cluster, name = 'web'): Promise<Pod> =>
  c.until(Pod, { name }, ({ status }) =>
    (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True'),
  );

const beatOf = async (c: Cluster, node: string): Promise<string | undefined> =>
  (await c.admin.find(Lease, { namespace: 'kube-node-lease', name: node }))?.spec?.renewTime;

it('needs only the permissions it declares, and deletes its nodes if configured to', async () => {
  await using c = await cluster();
  const client = await agentClient(c);
  const { agent, node } = await start(c, { client, deleteNodes: true });
  await createPod(c, node);
  const { status } = await untilReady(c);
  expect(status?.podIP).toMatch(/^10\.245\.0\.\d+$/);
  await c.admin.delete(Pod, { namespace: c.namespace, name: 'web' });
  await c.untilGone(Pod, { name: 'web' });
  await agent.stop();
  expect(await c.admin.find(Node, { name: node })).toBeUndefined();
});

it('renews Leases every ten seconds of the wire clock, and stops with the agent', async () => {
  await using c = await cluster();
  const wire = new VirtualClock();
  const { agent, node } = await start(c, { wire });
  await vi.waitFor(async () => expect(await beatOf(c, node)).toBe('2026-01-01T00:00:00.000000Z'));
  await wire.advance(10_000);
  await vi.waitFor(async () => expect(await beatOf(c, node)).toBe('2026-01-01T00:00:10.000000Z'));
  const silent = await agent.nodes.silence(node);
  const isSilent = async (): Promise<boolean> => {
    const before = await beatOf(c, node);
    await wire.advance(10_000);
    return (await beatOf(c, node)) === before;
  };
  await vi.waitUntil(isSilent);
  await silent.release();
  await vi.waitUntil(async () => !(await isSilent()));
  await agent.stop();
  expect(await isSilent()).toBe(true);
  await c.admin.delete(Node, { name: node });
});

it('continues where an earlier agent stopped, and writes nothing in a steady state', async () => {
  await using c = await cluster();
  const { agent, node } = await start(c);
  await createPod(c, node);
  const before = await untilReady(c);
  await agent.stop();

  const client = await c.clientFor({ user: c.uniqueName('second'), groups: ['system:masters'] });
  const network = '10.245.0.0/24';
  const next = await startNodeAgent({ client, name: agent.name, nodes: [node], network, deleteNodes: true });
  // Once a later Pod is ready, the earlier one has been reconciled too: they share a queue.
  await createPod(c, node, 'later');
  const later = await untilReady(c, 'later');
  const used = (await c.admin.get(Node, { name: node })).status?.addresses?.map(({ address }) => address);
  expect([...(used ?? []), before.status?.podIP]).not.toContain(later.status?.podIP);
  const after = await c.admin.get(Pod, { namespace: c.namespace, name: 'web' });
  expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  await next.stop();
});

it('does not take over a Node of another owner', async () => {
  await using c = await cluster();
  const { agent, node } = await start(c, { deleteNodes: true });
  await expect(startNodeAgent({ client: c.admin, name: 'other', nodes: [node] })).rejects.toMatchObject({
    code: 'BOWLINE_NODE_AGENT_FOREIGN_NODE',
    message: expect.stringContaining(node),
  });
  await agent.stop();
});

it('reports what it lacks when it cannot start', async () => {
  await using c = await cluster();
  const { client } = await c.serviceAccount({
    clusterRules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['create', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ],
  });
  await vi.waitUntil(async () => (await client.canI({ verb: 'create', resource: 'nodes' })).allowed);
  const name = c.uniqueName('agent');
  c.onDispose(() => c.admin.delete(Node, { name: `${name}-1` }));
  await expect(startNodeAgent({ client, name, readyTimeoutMs: 500 })).rejects.toMatchObject({
    code: 'BOWLINE_NODE_AGENT_START',
    message: expect.stringMatching(/cannot patch resource "nodes\/status"/),
  });
});
