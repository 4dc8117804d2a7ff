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
import {
  type ConnectionConfig,
  connectionFrom,
  installCustomResourceDefinitions,
  type Operator,
  parseKubeconfig,
  rbacManifests,
} from '@bowline/runtime';

const KINDS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
};

/** installOperator installs the kinds of an operator and the rights that it declares, and answers how it reaches the API server. */
export async function installOperator(c: Cluster, operator: Operator): Promise<ConnectionConfig> {
  const { namespace, admin } = c;
  await installCustomResourceDefinitions(admin, operator.resources);
  for (const manifest of rbacManifests(operator, { namespace })) {
    const kind = KINDS[manifest.kind ?? ''];
    if (!kind) throw new TypeError(`an RBAC manifest of kind ${manifest.kind} is not known`);
    await admin.create(kind, manifest);
  }
  const kubeconfig = await c.kubeconfig({ serviceAccount: { namespace, name: `bowline-${operator.name}` } });
  return connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
}
