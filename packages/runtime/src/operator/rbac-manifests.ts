import type {
  ClusterRole,
  ClusterRoleBinding,
  ObjectMeta,
  PolicyRule,
  Role,
  RoleBinding,
  ServiceAccount,
} from '@bowline/kubernetes';
import { NAME, operatorIdentity, PART_OF } from '../identity/operator-identity.ts';
import { inOwnNamespace } from '../permissions/permission.ts';
import { rulesOf } from '../permissions/rules.ts';
import { declaredPermissions, type WebhookMode } from './declared-permissions.ts';
import type { Operator } from './operator.ts';

/** RbacOptions configures the manifests. */
export interface RbacOptions {
  /** The manager's namespace. */
  readonly namespace: string;
  /** Defaults to the operator's own: `<vendor>-<operator>`. */
  readonly serviceAccount?: string | undefined;
  /**
   * The name of the install: that of roles, bindings and webhook configurations, and the beginning of the names of
   * companions. The manager needs the same; see `ManagerOptions.installNameFor`. Defaults to `<vendor>-<operator>`.
   */
  readonly name?: string | undefined;
  /** Who manages certificates and configurations of webhooks. Defaults to the runtime and the chart. */
  readonly webhooks?: WebhookMode | undefined;
  /** Additional labels of every object. Defaults to none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** RbacManifest is one of the objects that form the identity of an operator. */
export type RbacManifest = ServiceAccount | ClusterRole | ClusterRoleBinding | Role | RoleBinding;

const API = 'rbac.authorization.k8s.io';

/**
 * rbacManifests returns the identity of an operator: its ServiceAccount with exactly the rights that it declares, and
 * the roles and bindings for it. Plain objects, in the order in which they can be applied.
 */
export function rbacManifests(operator: Operator, options: RbacOptions): readonly RbacManifest[] {
  const { objectName, vendor } = operatorIdentity(operator);
  const { name = objectName, serviceAccount = objectName } = options;
  const { namespace } = options;
  const labels = {
    [NAME]: operator.name,
    [PART_OF]: vendor,
    ...options.labels,
  };
  // A declared namespace may be the manager's own: then both share one Role.
  const permissions = declaredPermissions(operator, { ...options.webhooks, installName: name }).map((each) =>
    inOwnNamespace(each, namespace),
  );
  const { cluster, namespaces } = rulesOf(permissions);
  const subjects = [{ kind: 'ServiceAccount', name: serviceAccount, namespace }];

  const inNamespace = (where: string, rules: readonly PolicyRule[]): readonly RbacManifest[] => {
    const metadata: ObjectMeta = { name, namespace: where, labels };
    return [
      { apiVersion: `${API}/v1`, kind: 'Role', metadata, rules },
      {
        apiVersion: `${API}/v1`,
        kind: 'RoleBinding',
        metadata,
        subjects,
        roleRef: { apiGroup: API, kind: 'Role', name },
      },
    ];
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount, namespace, labels } },
    ...(cluster.length === 0
      ? []
      : [
          { apiVersion: `${API}/v1`, kind: 'ClusterRole', metadata: { name, labels }, rules: cluster },
          {
            apiVersion: `${API}/v1`,
            kind: 'ClusterRoleBinding',
            metadata: { name, labels },
            subjects,
            roleRef: { apiGroup: API, kind: 'ClusterRole', name },
          },
        ]),
    ...Object.entries(namespaces).flatMap(([where, rules]) => inNamespace(where, rules)),
  ];
}
