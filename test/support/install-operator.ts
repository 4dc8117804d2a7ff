import type { Cluster } from '@bowline/control-plane/testing';
import {
  ClusterRole,
  ClusterRoleBinding,
  type KubernetesObject,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
} from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import {
  applyCompanions,
  applyInstallNamespaces,
  companionManifests,
  installCustomResourceDefinitions,
  installDependencies,
  operatorIdentity,
  rbacManifests,
  withConfig,
} from '@bowline/runtime/install';

const KINDS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
};

/** Place is where an operator is installed: a control plane and the namespace of its manager. */
export type Place = Pick<Cluster, 'namespace' | 'admin' | 'kubeconfig'>;

/**
 * installOperator installs the kinds, dependencies, namespaces and companions of an operator and the permissions that it
 * declares for its section of the configuration, and returns a kubeconfig of its account.
 */
export async function installOperator(
  { namespace, admin, kubeconfig }: Place,
  operator: Operator,
  config?: unknown,
): ReturnType<Place['kubeconfig']> {
  const { objectName, fieldManagers } = operatorIdentity(operator);
  await installCustomResourceDefinitions(admin, operator.resources, { fieldManager: fieldManagers.crds });
  await installDependencies(admin, operator);
  const configured = await withConfig(operator, config);
  await applyInstallNamespaces(admin, configured);
  await applyCompanions(admin, operator, companionManifests(configured, { namespace }));
  for (const manifest of rbacManifests(configured, { namespace })) {
    const kind = KINDS[manifest.kind ?? ''];
    if (!kind) throw new TypeError(`unknown RBAC manifest kind ${manifest.kind}`);
    await admin.create(kind, manifest);
  }
  return kubeconfig({ serviceAccount: { namespace, name: objectName } });
}
