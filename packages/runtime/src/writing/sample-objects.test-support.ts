import type { KubernetesObject } from '@bowline/kubernetes';

/** SampleObject is an object that an operator may apply. */
export type SampleObject = KubernetesObject & { readonly [field: string]: unknown };

const labels = { 'app.kubernetes.io/name': 'sample' };

const podSpec = {
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  hostNetwork: false,
  terminationGracePeriodSeconds: 0,
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ operator: 'Exists' }, { key: 'a', value: 'b', effect: 'NoSchedule' }],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, sysctls: [] },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
        },
      ],
    },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: labels },
    },
  ],
  initContainers: [
    { name: 'second', image: 'example.test/second' },
    { name: 'first', image: 'example.test/first', restartPolicy: 'Always' },
  ],
  containers: [
    {
      name: 'main',
      image: 'example.test/main:1',
      args: ['-config', '/etc/main.conf'],
      env: [
        { name: 'EMPTY', value: '' },
        { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'value', optional: true } } },
      ],
      envFrom: [{ configMapRef: { name: 'environment' } }, { prefix: 'S_', secretRef: { name: 'environment' } }],
      ports: [{ name: 'https', containerPort: 8443 }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 53 }],
      resources: { requests: { cpu: '1000m', memory: 0.5 }, limits: { cpu: 2, memory: '1024Mi' } },
      readinessProbe: { httpGet: { path: '/ready', port: 'https', scheme: 'HTTPS', httpHeaders: [] } },
      livenessProbe: { tcpSocket: { port: 8443 }, initialDelaySeconds: 0, periodSeconds: 60 },
      securityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true, privileged: false },
      volumeMounts: [
        { name: 'config', mountPath: '/etc/main' },
        { name: 'token', mountPath: '/token', readOnly: true },
      ],
    },
    { name: 'helper', image: 'example.test/helper' },
  ],
  volumes: [
    { name: 'config', configMap: { name: 'config', items: [{ key: 'a', path: 'b' }] } },
    { name: 'scratch', emptyDir: {} },
    { name: 'bounded', emptyDir: { sizeLimit: '1048576Ki' } },
    { name: 'host', hostPath: { path: '/run/sample', type: 'DirectoryOrCreate' } },
    { name: 'csi', csi: { driver: 'csi.sample.test', readOnly: true } },
    {
      name: 'token',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token', audience: 'sample' } },
          { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { configMap: { name: 'roots', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        ],
      },
    },
  ],
};

const template = { metadata: { labels, annotations: { 'sample.test/hash': 'abc' } }, spec: podSpec };
const selector = { matchLabels: labels };

/**
 * sampleObjects are namespaced and cluster-scoped objects that cover every way in which the server merges and
 * completes.
 */
export const sampleObjects: readonly SampleObject[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'sample', labels, annotations: {} },
    spec: { replicas: 0, paused: false, minReadySeconds: 0, selector, template, strategy: { type: 'RollingUpdate' } },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'sample', labels },
    spec: {
      serviceName: 'sample',
      replicas: 0,
      selector,
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
        },
      ],
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'sample' },
    spec: { selector, template, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } } },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'sample' },
    spec: {
      suspend: true,
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'example.test/a' }] } },
    },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'sample' },
    spec: {
      schedule: '0 0 * * *',
      suspend: true,
      jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } } } },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'sample', labels },
    spec: { ...podSpec, schedulingGates: [{ name: 'sample.test/wait' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'sample', labels: { plain: 'yes' } },
    spec: {
      selector: labels,
      ports: [
        { name: 'dns', port: 53, targetPort: 53 },
        { name: 'dns-udp', port: 53, protocol: 'UDP', targetPort: 'dns' },
        { name: 'https', port: 443, targetPort: 8443 },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'sample-load-balancer' },
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', selector: labels, ports: [{ port: 80 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'sample-headless' },
    spec: { clusterIP: 'None', selector: {} },
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' }, data: { a: '1', b: '' }, binaryData: {} },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample-empty', labels: {} } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sample' }, data: { a: 'YWJj\nZGVm', empty: '' } },
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'sample' },
    imagePullSecrets: [{ name: 'pull' }],
    automountServiceAccountToken: false,
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'sample' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'sample' },
    spec: { hard: { pods: '1000', 'requests.cpu': '4000m' }, scopes: ['NotTerminating'] },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'sample' },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get', 'patch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'sample' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sample' },
    subjects: [
      { kind: 'ServiceAccount', name: 'sample', namespace: 'default' },
      { kind: 'User', name: 'somebody' },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'field-set-sample' },
    rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'field-set-sample' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'field-set-sample' },
    subjects: [{ kind: 'Group', name: 'nobody' }],
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'sample' },
    spec: {
      podSelector: {},
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ port: 443 }, { port: 'dns', protocol: 'UDP' }], from: [{ podSelector: selector }] }],
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'sample' },
    spec: {
      rules: [
        {
          host: 'sample.test',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'sample', port: { number: 443 } } } }],
          },
        },
      ],
      tls: [{ hosts: ['sample.test'], secretName: 'sample-tls' }],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'field-set-sample' },
    webhooks: [
      {
        name: 'a.sample.test',
        clientConfig: { service: { name: 'sample', namespace: 'default', path: '/validate' } },
        rules: [{ apiGroups: ['sample.test'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'field-set-sample' },
    webhooks: [
      {
        name: 'a.sample.test',
        clientConfig: { url: 'https://127.0.0.1:1/mutate' },
        rules: [{ apiGroups: ['sample.test'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['things'] }],
        matchConditions: [{ name: 'spec', expression: 'object.spec != oldObject.spec' }],
        namespaceSelector: { matchExpressions: [{ key: 'off', operator: 'DoesNotExist' }] },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'field-set-sample' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['sample.test'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] },
        ],
      },
      validations: [{ expression: 'true', message: 'never' }],
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'field-set.sample.test', labels },
    spec: { attachRequired: false, podInfoOnMount: true, fsGroupPolicy: 'None', volumeLifecycleModes: ['Ephemeral'] },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'sample' },
    spec: { minAvailable: '50%', selector },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'sample' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'absent' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } },
    },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'sample' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
    ports: [{ port: 80 }],
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'sample' },
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-01T01:00:00.500000+01:00' },
  },
];
