import { type KubernetesObject, Namespace } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import {
  applyCompanions,
  companionManifests,
  installCustomResourceDefinitions,
  type OperatorId,
  operatorIdentity,
  rbacManifests,
} from '@bowline/runtime/install';
import type { ManagerConfig } from '../config/manager-config.ts';
import type { Settings } from '../config/settings.ts';
import { clusterName } from '../install/names.ts';
import { webhookServing } from '../manager/webhook-serving.ts';
import { applyObjects } from './apply-objects.ts';
import type { UpCluster } from './up-cluster.ts';

/** The API server reads its roles from a watch, which lags slightly behind the writes. */
const ROLE_POLL_MS = 20;

/** MANAGER_NAMESPACE is the namespace of the operators' own objects in `bowline up`. */
export const MANAGER_NAMESPACE = 'bowline-system';

/**
 * accountOf returns an operator's ServiceAccount as a user with a client certificate, which does not expire after a
 * day.
 */
export function accountOf(operator: OperatorId): {
  readonly user: string;
  readonly groups: readonly string[];
} {
  return {
    user: `system:serviceaccount:${MANAGER_NAMESPACE}:${operatorIdentity(operator).objectName}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${MANAGER_NAMESPACE}`],
  };
}

/** InstallInput configures what is installed, and where. */
export interface InstallInput {
  readonly cluster: UpCluster;
  /** Its operators are already configured with these settings. */
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/**
 * installOperators installs the operators' kinds and companions. In a cluster of our own each operator also gets a ServiceAccount with
 * exactly the rights that it declares, so that it behaves here as in an installed cluster.
 */
export async function installOperators({ cluster, settings, signal }: InstallInput): Promise<void> {
  const { admin, isOwn } = cluster;
  const { operators, manager } = settings;
  await applyObjects(
    admin,
    [{ apiVersion: 'v1', kind: Namespace.kind, metadata: { name: MANAGER_NAMESPACE } }],
    signal,
  );
  for (const operator of operators) {
    const fieldManager = operatorIdentity(operator).fieldManagers.crds;
    await installCustomResourceDefinitions(admin, operator.resources, { signal, fieldManager });
  }
  for (const operator of operators) {
    const companions = companionManifests(operator, { namespace: MANAGER_NAMESPACE, namespaces: manager.namespaces });
    await applyCompanions(admin, operator, companions, { signal });
  }
  if (!isOwn) return;
  for (const operator of operators) {
    await applyObjects(admin, rightsOf(operator, manager), signal);
    await untilPermissionsApply(await cluster.clientFor(operator), signal);
  }
}

function rightsOf(operator: Operator, manager: ManagerConfig): readonly KubernetesObject[] {
  return rbacManifests(operator, {
    namespace: MANAGER_NAMESPACE,
    name: clusterName(operator.name, MANAGER_NAMESPACE),
    webhooks: webhookServing(manager, { namespace: MANAGER_NAMESPACE, isServerLocal: true }, operator),
  });
}

async function untilPermissionsApply(client: Client, signal: AbortSignal): Promise<void> {
  const question = {
    verb: 'create',
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: MANAGER_NAMESPACE,
  } as const;
  while (!(await client.canI(question, { signal })).allowed) await systemClock.sleep(ROLE_POLL_MS, signal);
}
