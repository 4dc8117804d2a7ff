import {
  ClusterRole,
  ClusterRoleBinding,
  type ObjectMeta,
  Role,
  RoleBinding,
  ServiceAccount,
} from '@bowline/kubernetes';
import { type Child, child } from '../objects/child.ts';
import { objectLabels } from '../objects/labels.ts';
import { CONTROLLER_MANAGER, LEADER_ELECTION, SERVER, WEBHOOK } from '../spire/names.ts';
import { CertificateRequest } from '../third-party/certificate-request.ts';
import { type ServerInput, serverComponent } from './server-input.ts';

const SPIRE_KINDS = ['clusterfederatedtrustdomains', 'clusterspiffeids', 'clusterstaticentries'];
const RBAC = 'rbac.authorization.k8s.io';

/** CERTIFICATE_REQUEST_VERBS are what the server does with its CertificateRequests: it removes those that are done. */
export const CERTIFICATE_REQUEST_VERBS = ['create', 'delete', 'get', 'list'] as const;

/** serverAccess returns the ServiceAccount of the server and its permissions. */
export function serverAccess(input: ServerInput): readonly Child[] {
  const { operandNamespace: namespace } = input.config;
  const labels = objectLabels(input, serverComponent(input));
  const named = (name: string): ObjectMeta => ({ name, labels });
  const local = (name: string): ObjectMeta => ({ name, namespace, labels });
  const subjects = [{ kind: 'ServiceAccount', name: SERVER, namespace }];
  const cluster = (name: string, rules: NonNullable<ClusterRole['rules']>): readonly Child[] => [
    child('RBACAvailable', ClusterRole, { metadata: named(name), rules }),
    child('RBACAvailable', ClusterRoleBinding, {
      metadata: named(name),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects,
    }),
  ];
  const namespaced = (name: string, rules: NonNullable<Role['rules']>): readonly Child[] => [
    child('RBACAvailable', Role, { metadata: local(name), rules }),
    child('RBACAvailable', RoleBinding, {
      metadata: local(name),
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects,
    }),
  ];
  return [
    child('ServiceAccountAvailable', ServiceAccount, { metadata: local(SERVER) }),
    ...cluster(SERVER, [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get'] },
    ]),
    ...cluster(CONTROLLER_MANAGER, controllerManagerRules),
    ...namespaced('spire-bundle', [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: [input.values.bundleConfigMap],
        verbs: ['get', 'patch'],
      },
    ]),
    ...namespaced(LEADER_ELECTION, [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [LEADER_ELECTION],
        verbs: ['get', 'update'],
      },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ]),
    ...(input.spec.upstreamAuthority?.certManager
      ? namespaced('spire-server-certificate-requests', [
          {
            apiGroups: [CertificateRequest.group],
            resources: [CertificateRequest.plural],
            verbs: [...CERTIFICATE_REQUEST_VERBS],
          },
        ])
      : []),
  ];
}

const controllerManagerRules: NonNullable<ClusterRole['rules']> = [
  { apiGroups: [''], resources: ['endpoints', 'namespaces', 'nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations'],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations'],
    resourceNames: [WEBHOOK],
    verbs: ['get', 'patch'],
  },
  {
    apiGroups: ['spire.spiffe.io'],
    resources: SPIRE_KINDS,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
  { apiGroups: ['spire.spiffe.io'], resources: SPIRE_KINDS.map((kind) => `${kind}/finalizers`), verbs: ['update'] },
  {
    apiGroups: ['spire.spiffe.io'],
    resources: SPIRE_KINDS.map((kind) => `${kind}/status`),
    verbs: ['get', 'patch', 'update'],
  },
];
