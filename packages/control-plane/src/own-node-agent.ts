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
import { type Clock, systemClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import type { ClientFor } from './connect-client.ts';
import { NODE_LEASE_NAMESPACE } from './node-agent/heartbeats.ts';
import { nodeAgentRbac } from './node-agent/rbac.ts';
import { type NodeAgent, startNodeAgent } from './node-agent/start-node-agent.ts';
import { untilExists } from './until-exists.ts';

/** The user of the agent. It has its own, so that audits and tests can distinguish its requests from others. */
const USER = 'bowline:node-agent';

/** The API server reads its roles from a watch, which lags slightly behind the writes. */
const ROLE_POLL_MS = 20;

const START_TIMEOUT_MS = 60_000;

/** OwnNodeAgentOptions configures the nodes of a control plane. */
export interface OwnNodeAgentOptions {
  readonly nodes: number;
  /** Whether to serve `kubectl logs`. */
  readonly logs: boolean;
  /** Where the folders of volumes are created. Defaults to a temporary folder. */
  readonly volumesFolder?: string | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** startOwnNodeAgent starts the nodes of a control plane, under an identity with the least rights. */
export async function startOwnNodeAgent(
  clientFor: ClientFor,
  { nodes, logs, volumesFolder, clock, signal }: OwnNodeAgentOptions,
): Promise<NodeAgent | undefined> {
  if (nodes === 0) return undefined;
  const limit = AbortSignal.timeout(START_TIMEOUT_MS);
  const within = signal ? AbortSignal.any([signal, limit]) : limit;
  await grant(clientFor, within);
  const client = await clientFor({ user: USER }, 'node-agent');
  try {
    await untilAllowed(client, within);
    const agent = await startNodeAgent({ client, nodes, logs, volumes: true, volumesFolder, clock });
    const untilStopped = async (): Promise<void> => {
      try {
        await agent.stopped;
      } finally {
        await client.close();
      }
    };
    const stopped = untilStopped();
    stopped.catch(() => undefined);
    const stop = async (): Promise<void> => {
      try {
        await agent.stop();
      } finally {
        await stopped;
      }
    };
    return { ...agent, stopped, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function grant(clientFor: ClientFor, signal: AbortSignal): Promise<void> {
  await using admin = await clientFor('admin', 'control-plane');
  // The API server may create its system namespaces only after it reports ready.
  await untilExists(admin, Namespace, { name: NODE_LEASE_NAMESPACE }, signal);
  const apply = async <T extends KubernetesObject>(resource: Resource<T>, body: T): Promise<void> => {
    const options = { fieldManager: 'bowline-control-plane', signal };
    await admin.patch(resource, keyOf(body), { type: 'apply', body, force: true }, options);
  };
  const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER };
  const objects = nodeAgentRbac(USER, subject, { volumes: true });
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
    while (!(await client.canI(question, { signal })).allowed) await systemClock.sleep(ROLE_POLL_MS, signal);
  }
}
