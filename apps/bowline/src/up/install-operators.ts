import { type KubernetesObject, Namespace } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import {
  applyCompanions,
  applyInstallNamespaces,
  companionManifests,
  installCustomResourceDefinitions,
  installDependencies,
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
  /** Shows one line about what was done. */
  readonly report: (line: string) => void;
}

/**
 * installOperators installs the operators' kinds, namespaces and companions, and missing kinds of other projects. In a
 * cluster of our own each operator also gets a ServiceAccount with exactly the rights that it declares, so that it
 * behaves here as in an installed cluster.
 */
export async function installOperators(input: InstallInput): Promise<void> {
  const { cluster, settings, signal } = input;
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
    await reportDependencies(operator, input);
  }
  for (const operator of operators) {
    await reportNamespaces(operator, input);
    const companions = companionManifests(operator, { namespace: MANAGER_NAMESPACE, namespaces: manager.namespaces });
    await applyCompanions(admin, operator, companions, { signal });
  }
  if (!isOwn) return;
  for (const operator of operators) {
    await applyObjects(admin, rightsOf(operator, manager), signal);
    await untilPermissionsApply(await cluster.clientFor(operator), signal);
  }
}

async function reportDependencies(operator: Operator, { cluster, signal, report }: InstallInput): Promise<void> {
  for (const { name, outcome, isServed, resource } of await installDependencies(cluster.admin, operator, { signal })) {
    if (outcome === 'created') report(`installed ${name}, which ${operator.name} uses and the cluster did not have`);
    else if (isServed) report(`using ${name} of the cluster for ${operator.name}`);
    else {
      report(
        `caution: ${operator.name} uses ${name} in ${resource.version}, which the one in the cluster does not serve; upgrade the project that defines it`,
      );
    }
  }
}

async function reportNamespaces(operator: Operator, { cluster, signal, report }: InstallInput): Promise<void> {
  for (const { name, conflictingLabels } of await applyInstallNamespaces(cluster.admin, operator, { signal })) {
    if (conflictingLabels.length === 0) continue;
    report(
      `caution: the namespace ${name} of ${operator.name} has other values of the labels ${conflictingLabels.join(', ')}, which were not changed; its workloads may be refused`,
    );
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
