import type { PolicyRule, RoleBinding } from '@bowline/kubernetes';
import { objectNames } from '../api/names.ts';

/** agentRules returns what agents of an IgnitionSync may do: exchange state by the names of its ConfigMaps, and send events. */
export function agentRules(cr: string): PolicyRule[] {
  const { metadata, status, changes } = objectNames(cr);
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  return [
    { ...configMaps, resourceNames: [metadata], verbs: ['get', 'list', 'watch'] },
    { ...configMaps, resourceNames: [status, changes], verbs: ['get', 'patch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ];
}

/** agentBinding returns the role and the subjects of a RoleBinding: the ServiceAccounts of all pods of an IgnitionSync. */
export function agentBinding(
  cr: string,
  namespace: string,
  serviceAccounts: readonly string[],
): Pick<RoleBinding, 'roleRef' | 'subjects'> {
  return {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: objectNames(cr).agent },
    // The API server drops an empty list.
    ...(serviceAccounts.length === 0
      ? {}
      : { subjects: serviceAccounts.map((name) => ({ kind: 'ServiceAccount', name, namespace })) }),
  };
}
