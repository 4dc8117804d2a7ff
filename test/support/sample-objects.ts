/** Sample is a valid object of a kind and the path to create it. Paths contain NS for a namespace. */
export interface Sample {
  readonly kind: string;
  /** The path of its collection. */
  readonly path: string;
  /** Its name is `sample`. */
  readonly object: SampleObject;
  /** Subresources with their own paths. */
  readonly subresources: readonly string[];
}

/** SampleObject is an object as it is sent. */
export interface SampleObject extends Record<string, unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const POD = {
  containers: [
    {
      name: 'main',
      image: 'registry.example/main:1',
      command: ['run', '--fast'],
      env: [
        { name: 'A', value: 'a' },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'k', optional: true } } },
      ],
      ports: [{ containerPort: 8080, name: 'http' }],
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      readinessProbe: { httpGet: { path: '/', port: 'http' } },
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
  volumes: [{ name: 'data', emptyDir: {} }],
  tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
};
const LABELS = { app: 'sample' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: POD };

/** WIDGETS is the definition of a kind that uses most features of schemas. */
export const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.proof.bowline.dev' },
  spec: {
    group: 'proof.bowline.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wdg'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', format: 'int32', minimum: 0, maximum: 10, default: 3 },
                  ratio: { type: 'number', multipleOf: 0.5 },
                  color: { type: 'string', enum: ['red', 'green', 'blue'] },
                  title: { type: 'string', minLength: 2, maxLength: 20, pattern: '^[A-Za-z ]+$' },
                  since: { type: 'string', format: 'date-time' },
                  port: { 'x-kubernetes-int-or-string': true },
                  frozen: {
                    type: 'string',
                    maxLength: 20,
                    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'frozen must not change' }],
                  },
                  tags: { type: 'array', maxItems: 5, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    maxItems: 10,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 20 },
                        count: { type: 'integer', default: 1 },
                      },
                    },
                  },
                  labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 4 },
                  atomic: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    properties: { a: { type: 'string' }, b: { type: 'string' } },
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  maybe: { type: 'string', nullable: true },
                },
                'x-kubernetes-validations': [
                  {
                    rule: "!has(self.color) || self.color != 'blue' || self.size < 5",
                    message: 'blue widgets are small',
                  },
                ],
              },
              status: {
                type: 'object',
                properties: { size: { type: 'integer' }, ready: { type: 'boolean' } },
              },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} as const;

function sample(
  apiVersion: string,
  kind: string,
  plural: string,
  content: Readonly<Record<string, unknown>>,
  { isClustered = false, subresources = [] as readonly string[] } = {},
): Sample {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const path = isClustered ? `${root}/${plural}` : `${root}/namespaces/NS/${plural}`;
  const { metadata, ...rest } = content;
  const object = {
    apiVersion,
    kind,
    metadata: { name: 'sample', labels: LABELS, ...(metadata as Readonly<Record<string, unknown>> | undefined) },
    ...rest,
  };
  return { kind, path, object, subresources };
}

const CLUSTERED = { isClustered: true };
const RULES = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'], resourceNames: ['a'] }];
const ROLE_REF = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sample' };
const SUBJECTS = [{ kind: 'ServiceAccount', name: 'sample', namespace: 'default' }];

/** SAMPLES are of the kinds that operators, kubectl and Helm use most. */
export const SAMPLES: readonly Sample[] = [
  sample('v1', 'ConfigMap', 'configmaps', { data: { a: 'b', c: 'd' }, binaryData: { x: 'aGk=' } }),
  sample('v1', 'Secret', 'secrets', { type: 'Opaque', data: { a: 'Yg==' }, stringData: { c: 'd' } }),
  sample(
    'v1',
    'Service',
    'services',
    { spec: { selector: LABELS, ports: [{ name: 'http', port: 80, targetPort: 'http' }] } },
    { subresources: ['status'] },
  ),
  sample('v1', 'ServiceAccount', 'serviceaccounts', { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'b' }] }),
  sample('v1', 'Pod', 'pods', { spec: POD }, { subresources: ['status'] }),
  sample(
    'v1',
    'PersistentVolumeClaim',
    'persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    { subresources: ['status'] },
  ),
  sample(
    'apps/v1',
    'Deployment',
    'deployments',
    { spec: { replicas: 2, selector: { matchLabels: LABELS }, template: TEMPLATE } },
    { subresources: ['status', 'scale'] },
  ),
  sample(
    'apps/v1',
    'StatefulSet',
    'statefulsets',
    { spec: { serviceName: 'sample', selector: { matchLabels: LABELS }, template: TEMPLATE } },
    { subresources: ['status', 'scale'] },
  ),
  sample(
    'apps/v1',
    'DaemonSet',
    'daemonsets',
    { spec: { selector: { matchLabels: LABELS }, template: TEMPLATE } },
    { subresources: ['status'] },
  ),
  sample(
    'batch/v1',
    'Job',
    'jobs',
    { spec: { template: { spec: { ...POD, restartPolicy: 'Never' } }, backoffLimit: 2 } },
    { subresources: ['status'] },
  ),
  sample('coordination.k8s.io/v1', 'Lease', 'leases', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.000006Z' },
  }),
  sample(
    'networking.k8s.io/v1',
    'Ingress',
    'ingresses',
    {
      spec: {
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    { subresources: ['status'] },
  ),
  sample('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', {
    spec: { podSelector: { matchLabels: LABELS }, ingress: [{ from: [{ podSelector: {} }] }] },
  }),
  sample(
    'policy/v1',
    'PodDisruptionBudget',
    'poddisruptionbudgets',
    { spec: { minAvailable: '50%', selector: { matchLabels: LABELS } } },
    { subresources: ['status'] },
  ),
  sample('rbac.authorization.k8s.io/v1', 'Role', 'roles', { rules: RULES }),
  sample('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', { roleRef: ROLE_REF, subjects: SUBJECTS }),
  sample('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', { rules: RULES }, CLUSTERED),
  sample('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', { value: 1000 }, CLUSTERED),
  sample(
    'storage.k8s.io/v1',
    'StorageClass',
    'storageclasses',
    { provisioner: 'example.com/none', parameters: { a: 'b' } },
    CLUSTERED,
  ),
  sample(
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    {
      webhooks: [
        {
          name: 'a.proof.bowline.dev',
          clientConfig: { url: 'https://127.0.0.1:1/' },
          rules: [{ apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
    CLUSTERED,
  ),
  sample(
    'proof.bowline.dev/v1',
    'Widget',
    'widgets',
    {
      spec: {
        size: 4,
        ratio: 1.5,
        color: 'red',
        title: 'A title',
        since: '2026-01-02T03:04:05Z',
        port: 'http',
        frozen: 'ice',
        tags: ['a', 'b'],
        parts: [{ name: 'left' }, { name: 'right', count: 2 }],
        labels: { a: 'b' },
        atomic: { a: 'x' },
        free: { any: { thing: [1, 'two', null] } },
      },
    },
    { subresources: ['status', 'scale'] },
  ),
];
