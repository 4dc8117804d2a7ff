import { type ObjectMeta, Role, RoleBinding } from '@bowline/kubernetes';
import { type Child, child } from './child.ts';

/** ROUTER is the ServiceAccount of OpenShift's router. */
export const ROUTER = { kind: 'ServiceAccount', namespace: 'openshift-ingress', name: 'router' } as const;

/** externalCertificateAccess returns what lets OpenShift's router read the certificate of a Route from a Secret. */
export function externalCertificateAccess(metadata: ObjectMeta, secretName: string): readonly Child[] {
  const { name = '' } = metadata;
  return [
    child('RouteAvailable', Role, {
      metadata,
      rules: [
        { apiGroups: [''], resources: ['secrets'], resourceNames: [secretName], verbs: ['get', 'list', 'watch'] },
      ],
    }),
    child('RouteAvailable', RoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [ROUTER],
    }),
  ];
}
