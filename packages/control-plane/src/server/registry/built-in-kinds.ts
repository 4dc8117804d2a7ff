import type { Scope } from '@bowline/kubernetes';
import type { Verb } from '../http/request-info.ts';

/** BuiltInSubresource describes a subresource of a built-in kind as discovery lists it. */
export interface BuiltInSubresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

/** BuiltInKind describes how a built-in kind is served. Kinds of the real server that this table lacks return 404. */
export interface BuiltInKind {
  readonly kind: string;
  readonly resource: string;
  readonly singular: string;
  /** Defaults to Namespaced. */
  readonly scope?: Scope;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Defaults to all. */
  readonly verbs?: readonly Verb[];
  readonly subresources?: readonly BuiltInSubresource[];
}

/** BUILT_IN_KINDS lists the served kinds by group and version, in the order of the real server's discovery. */
export const BUILT_IN_KINDS: readonly {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly BuiltInKind[];
}[] = [
  {
    group: '',
    version: 'v1',
    kinds: [
      { kind: 'ConfigMap', resource: 'configmaps', singular: 'configmap', shortNames: ['cm'] },
      { kind: 'Endpoints', resource: 'endpoints', singular: 'endpoints', shortNames: ['ep'] },
      { kind: 'Event', resource: 'events', singular: 'event', shortNames: ['ev'] },
      { kind: 'LimitRange', resource: 'limitranges', singular: 'limitrange', shortNames: ['limits'] },
      {
        kind: 'Namespace',
        resource: 'namespaces',
        singular: 'namespace',
        scope: 'Cluster',
        shortNames: ['ns'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
        subresources: [
          { name: 'finalize', verbs: ['update'] },
          { name: 'status', verbs: ['get', 'patch', 'update'] },
        ],
      },
      {
        kind: 'Node',
        resource: 'nodes',
        singular: 'node',
        scope: 'Cluster',
        shortNames: ['no'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      {
        kind: 'PersistentVolumeClaim',
        resource: 'persistentvolumeclaims',
        singular: 'persistentvolumeclaim',
        shortNames: ['pvc'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      {
        kind: 'PersistentVolume',
        resource: 'persistentvolumes',
        singular: 'persistentvolume',
        scope: 'Cluster',
        shortNames: ['pv'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      {
        kind: 'Pod',
        resource: 'pods',
        singular: 'pod',
        shortNames: ['po'],
        categories: ['all'],
        subresources: [
          { name: 'binding', verbs: ['create'], group: '', version: '', kind: 'Binding' },
          { name: 'eviction', verbs: ['create'], group: 'policy', version: 'v1', kind: 'Eviction' },
          { name: 'log', verbs: ['get'] },
          { name: 'status', verbs: ['get', 'patch', 'update'] },
        ],
      },
      {
        kind: 'ResourceQuota',
        resource: 'resourcequotas',
        singular: 'resourcequota',
        shortNames: ['quota'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      { kind: 'Secret', resource: 'secrets', singular: 'secret' },
      {
        kind: 'ServiceAccount',
        resource: 'serviceaccounts',
        singular: 'serviceaccount',
        shortNames: ['sa'],
        subresources: [
          { name: 'token', verbs: ['create'], group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
        ],
      },
      {
        kind: 'Service',
        resource: 'services',
        singular: 'service',
        shortNames: ['svc'],
        categories: ['all'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
    ],
  },
  {
    group: 'apps',
    version: 'v1',
    kinds: [
      { kind: 'ControllerRevision', resource: 'controllerrevisions', singular: 'controllerrevision' },
      {
        kind: 'DaemonSet',
        resource: 'daemonsets',
        singular: 'daemonset',
        shortNames: ['ds'],
        categories: ['all'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      {
        kind: 'Deployment',
        resource: 'deployments',
        singular: 'deployment',
        shortNames: ['deploy'],
        categories: ['all'],
        subresources: [
          { name: 'scale', verbs: ['get', 'patch', 'update'], group: 'autoscaling', version: 'v1', kind: 'Scale' },
          { name: 'status', verbs: ['get', 'patch', 'update'] },
        ],
      },
      {
        kind: 'ReplicaSet',
        resource: 'replicasets',
        singular: 'replicaset',
        shortNames: ['rs'],
        categories: ['all'],
        subresources: [
          { name: 'scale', verbs: ['get', 'patch', 'update'], group: 'autoscaling', version: 'v1', kind: 'Scale' },
          { name: 'status', verbs: ['get', 'patch', 'update'] },
        ],
      },
      {
        kind: 'StatefulSet',
        resource: 'statefulsets',
        singular: 'statefulset',
        shortNames: ['sts'],
        categories: ['all'],
        subresources: [
          { name: 'scale', verbs: ['get', 'patch', 'update'], group: 'autoscaling', version: 'v1', kind: 'Scale' },
          { name: 'status', verbs: ['get', 'patch', 'update'] },
        ],
      },
    ],
  },
  {
    group: 'events.k8s.io',
    version: 'v1',
    kinds: [{ kind: 'Event', resource: 'events', singular: 'event', shortNames: ['ev'] }],
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kinds: [
      {
        kind: 'SelfSubjectReview',
        resource: 'selfsubjectreviews',
        singular: 'selfsubjectreview',
        scope: 'Cluster',
        verbs: ['create'],
      },
      { kind: 'TokenReview', resource: 'tokenreviews', singular: 'tokenreview', scope: 'Cluster', verbs: ['create'] },
    ],
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kinds: [
      {
        kind: 'LocalSubjectAccessReview',
        resource: 'localsubjectaccessreviews',
        singular: 'localsubjectaccessreview',
        verbs: ['create'],
      },
      {
        kind: 'SelfSubjectAccessReview',
        resource: 'selfsubjectaccessreviews',
        singular: 'selfsubjectaccessreview',
        scope: 'Cluster',
        verbs: ['create'],
      },
      {
        kind: 'SelfSubjectRulesReview',
        resource: 'selfsubjectrulesreviews',
        singular: 'selfsubjectrulesreview',
        scope: 'Cluster',
        verbs: ['create'],
      },
      {
        kind: 'SubjectAccessReview',
        resource: 'subjectaccessreviews',
        singular: 'subjectaccessreview',
        scope: 'Cluster',
        verbs: ['create'],
      },
    ],
  },
  {
    group: 'autoscaling',
    version: 'v2',
    kinds: [
      {
        kind: 'HorizontalPodAutoscaler',
        resource: 'horizontalpodautoscalers',
        singular: 'horizontalpodautoscaler',
        shortNames: ['hpa'],
        categories: ['all'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
    ],
  },
  {
    group: 'batch',
    version: 'v1',
    kinds: [
      {
        kind: 'Job',
        resource: 'jobs',
        singular: 'job',
        categories: ['all'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
    ],
  },
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kinds: [
      { kind: 'IngressClass', resource: 'ingressclasses', singular: 'ingressclass', scope: 'Cluster' },
      {
        kind: 'Ingress',
        resource: 'ingresses',
        singular: 'ingress',
        shortNames: ['ing'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      { kind: 'NetworkPolicy', resource: 'networkpolicies', singular: 'networkpolicy', shortNames: ['netpol'] },
    ],
  },
  {
    group: 'policy',
    version: 'v1',
    kinds: [
      {
        kind: 'PodDisruptionBudget',
        resource: 'poddisruptionbudgets',
        singular: 'poddisruptionbudget',
        shortNames: ['pdb'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
    ],
  },
  {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kinds: [
      { kind: 'ClusterRoleBinding', resource: 'clusterrolebindings', singular: 'clusterrolebinding', scope: 'Cluster' },
      { kind: 'ClusterRole', resource: 'clusterroles', singular: 'clusterrole', scope: 'Cluster' },
      { kind: 'RoleBinding', resource: 'rolebindings', singular: 'rolebinding' },
      { kind: 'Role', resource: 'roles', singular: 'role' },
    ],
  },
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kinds: [
      { kind: 'CSIDriver', resource: 'csidrivers', singular: 'csidriver', scope: 'Cluster' },
      {
        kind: 'StorageClass',
        resource: 'storageclasses',
        singular: 'storageclass',
        scope: 'Cluster',
        shortNames: ['sc'],
      },
    ],
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kinds: [
      {
        kind: 'MutatingWebhookConfiguration',
        resource: 'mutatingwebhookconfigurations',
        singular: 'mutatingwebhookconfiguration',
        scope: 'Cluster',
        categories: ['api-extensions'],
      },
      {
        kind: 'ValidatingAdmissionPolicy',
        resource: 'validatingadmissionpolicies',
        singular: 'validatingadmissionpolicy',
        scope: 'Cluster',
        categories: ['api-extensions'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
      {
        kind: 'ValidatingAdmissionPolicyBinding',
        resource: 'validatingadmissionpolicybindings',
        singular: 'validatingadmissionpolicybinding',
        scope: 'Cluster',
        categories: ['api-extensions'],
      },
      {
        kind: 'ValidatingWebhookConfiguration',
        resource: 'validatingwebhookconfigurations',
        singular: 'validatingwebhookconfiguration',
        scope: 'Cluster',
        categories: ['api-extensions'],
      },
    ],
  },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kinds: [
      {
        kind: 'CustomResourceDefinition',
        resource: 'customresourcedefinitions',
        singular: 'customresourcedefinition',
        scope: 'Cluster',
        shortNames: ['crd', 'crds'],
        categories: ['api-extensions'],
        subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
      },
    ],
  },
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    kinds: [
      {
        kind: 'PriorityClass',
        resource: 'priorityclasses',
        singular: 'priorityclass',
        scope: 'Cluster',
        shortNames: ['pc'],
      },
    ],
  },
  {
    group: 'coordination.k8s.io',
    version: 'v1',
    kinds: [{ kind: 'Lease', resource: 'leases', singular: 'lease' }],
  },
  {
    group: 'discovery.k8s.io',
    version: 'v1',
    kinds: [{ kind: 'EndpointSlice', resource: 'endpointslices', singular: 'endpointslice' }],
  },
];
