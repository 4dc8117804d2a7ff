import type { ClusterRole, ClusterRoleBinding, PolicyRule } from '@bowline/kubernetes';
import { clusterName } from '../install/names.ts';

const API = 'rbac.authorization.k8s.io';

/**
 * metricsAccess returns the role that lets an account check who reads its metrics and whether they may, and the role to
 * bind to permitted readers, such as Prometheus.
 */
export function metricsAccess(account: {
  readonly name: string;
  readonly namespace: string;
}): readonly (ClusterRole | ClusterRoleBinding)[] {
  const { name, namespace } = account;
  const suffix = name.replace(/^bowline-?/, '');
  const nameOf = (what: string): string => clusterName(suffix === '' ? what : `${suffix}-${what}`, namespace);
  const role = (roleName: string, rules: readonly PolicyRule[]): ClusterRole => ({
    apiVersion: `${API}/v1`,
    kind: 'ClusterRole',
    metadata: { name: roleName },
    rules,
  });
  return [
    role(nameOf('metrics-auth'), [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]),
    {
      apiVersion: `${API}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: nameOf('metrics-auth') },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
      roleRef: { apiGroup: API, kind: 'ClusterRole', name: nameOf('metrics-auth') },
    },
    role(nameOf('metrics-reader'), [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  ];
}
