import {
  ClusterRole,
  ClusterRoleBinding,
  type KubernetesObject,
  keyOf,
  Namespace,
  type Resource,
  Role,
  RoleBinding,
} from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime';
import { connectClient } from '../connect-client.ts';
import type { ControlPlaneAccess } from '../control-plane.ts';
import { NODE_LEASE_NAMESPACE } from '../node-agent/heartbeats.ts';
import { nodeAgentRbac } from '../node-agent/rbac.ts';
import { type NodeAgent, startNodeAgent } from '../node-agent/start-node-agent.ts';
import { untilExists } from './until-exists.ts';

/** Who the agent is: a user of its own, so that audits and tests can tell its requests from those of others. */
const USER = 'bowline:node-agent';

/** The API server reads its roles from a watch, a moment behind what was written. */
const ROLE_POLL_MS = 20;

const START_TIMEOUT_MS = 60_000;

/** startOwnNodeAgent gives a control plane its nodes, under an identity with the least rights. */
export async function startOwnNodeAgent(
  access: Pick<ControlPlaneAccess, 'kubeconfig'>,
  nodes: number,
  signal: AbortSignal | undefined,
): Promise<NodeAgent | undefined> {
  if (nodes === 0) return undefined;
  const limit = AbortSignal.timeout(START_TIMEOUT_MS);
  const within = signal ? AbortSignal.any([signal, limit]) : limit;
  await grant(access, within);
  const client = await connectClient(await access.kubeconfig({ user: USER }), { component: 'node-agent' });
  try {
    await untilAllowed(client, within);
    const agent = await startNodeAgent({ client, nodes, logs: true });
    const stopped = agent.stopped.finally(() => client.close());
    stopped.catch(() => undefined);
    const stop = (): Promise<void> => agent.stop().finally(() => stopped);
    return { ...agent, stopped, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function grant(access: Pick<ControlPlaneAccess, 'kubeconfig'>, signal: AbortSignal): Promise<void> {
  await using admin = await connectClient(await access.kubeconfig('admin'));
  // The API server makes its own namespaces, but not before it says that it is ready.
  await untilExists(admin, Namespace, { name: NODE_LEASE_NAMESPACE }, signal);
  const apply = async <T extends KubernetesObject>(resource: Resource<T>, body: T): Promise<void> => {
    const options = { fieldManager: 'bowline-control-plane', signal };
    await admin.patch(resource, keyOf(body), { type: 'apply', body, force: true }, options);
  };
  const objects = nodeAgentRbac(USER, { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER });
  await Promise.all([
    apply(ClusterRole, objects.clusterRole),
    apply(ClusterRoleBinding, objects.clusterRoleBinding),
    apply(Role, objects.role),
    apply(RoleBinding, objects.roleBinding),
  ]);
}

async function untilAllowed(client: Client, signal: AbortSignal): Promise<void> {
  const questions = [
    { verb: 'create', resource: 'nodes' },
    { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases', namespace: NODE_LEASE_NAMESPACE },
  ];
  for (const question of questions) {
    while (!(await client.mayI(question, { signal })).allowed) await systemClock.sleep(ROLE_POLL_MS, signal);
  }
}
