import type { Case } from '../../compare-kinds.test-support.ts';

const PODS = '/api/v1/namespaces/NS/pods?dryRun=All';

/** pod returns a case that creates a pod with the given differences from a minimal one. */
function pod(what: string, spec: object, metadata: object = {}): Case {
  const plain = { containers: [{ name: 'c', image: 'i' }] };
  return [what, ['POST', PODS, { metadata: { name: 'p', ...metadata }, spec: { ...plain, ...spec } }]];
}

/** container returns a case that creates a pod with one container, with the given differences from a minimal one. */
function container(what: string, of: object, spec: object = {}): Case {
  return pod(what, { containers: [{ name: 'c', image: 'i', ...of }], ...spec });
}

/** volume returns a case that creates a pod with one volume. */
function volume(what: string, of: object): Case {
  return pod(what, { volumes: [{ name: 'v', ...of }] });
}

const HTTP = { httpGet: { port: 80 } };

/** POD_CASES covers typical pods: the defaults that the server sets, and the problems that it reports. */
export const POD_CASES: readonly Case[] = [
  pod('the minimal spec of a pod', {}),
  ['no spec', ['POST', PODS, { metadata: { name: 'p' } }]],
  ['a container that is null', ['POST', PODS, { metadata: { name: 'p' }, spec: { containers: [null] } }]],
  pod('a bad name', {}, { name: 'P_' }),
  pod('no containers', { containers: [] }),
  pod('containers without names and images', { containers: [{}, { name: 'A b', image: ' x' }] }),
  pod('two containers of the same name', {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'c', image: 'j' },
    ],
    initContainers: [{ name: 'c', image: 'i' }],
  }),
  ...[
    'i:latest',
    'i:1',
    'host:5000/i',
    'host:5000/i:2',
    `i@sha256:${'a'.repeat(64)}`,
    `i:latest@sha256:${'a'.repeat(64)}`,
    'Bad',
  ].map((image) => container(`the image ${image}`, { image })),
  container('unknown container policies', { imagePullPolicy: 'X', terminationMessagePolicy: 'X' }),
  pod('unknown pod policies', { restartPolicy: 'X', dnsPolicy: 'X' }),
  container('ports', {
    ports: [
      { containerPort: 80, name: 'a' },
      { containerPort: 81, hostPort: 81, protocol: 'UDP' },
    ],
  }),
  container('invalid ports', {
    ports: [
      {},
      { containerPort: 70_000, name: 'Web' },
      { containerPort: 80, name: 'a', hostPort: -1 },
      { containerPort: 80, name: 'a', protocol: 'X' },
      { containerPort: 1, name: 'a-very-long-port-name' },
      { containerPort: 1, name: '80' },
      { containerPort: 1, name: 'a--b-' },
    ],
  }),
  container('ports on the host', { ports: [{ containerPort: 80 }] }, { hostNetwork: true }),
  container(
    'a host port that differs from the container port',
    { ports: [{ containerPort: 80, hostPort: 81 }] },
    { hostNetwork: true },
  ),
  pod('two containers with the same host port', {
    containers: ['a', 'b'].map((name) => ({ name, image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] })),
  }),
  container('variables', {
    env: [
      { name: 'A', value: '' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      { name: 'E', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
    ],
    envFrom: [{ prefix: 'P_', configMapRef: { name: 'x' } }],
  }),
  container('invalid environment variables', {
    env: [
      {},
      { name: 'a=b' },
      { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'A', valueFrom: {} },
      { name: 'A', valueFrom: { fieldRef: {} } },
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } },
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
      { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.x' } } },
      { name: 'A', valueFrom: { resourceFieldRef: {} } },
      { name: 'A', valueFrom: { secretKeyRef: { name: 's' } } },
      { name: 'A', valueFrom: { configMapKeyRef: { key: 'a b' } } },
      {
        name: 'A',
        valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 's', key: 'k' } },
      },
    ],
    envFrom: [{}, { secretRef: {} }, { prefix: 'a=', secretRef: { name: 'a' }, configMapRef: { name: 'B' } }],
  }),
  container('probes', {
    livenessProbe: HTTP,
    readinessProbe: { grpc: { port: 1 }, successThreshold: 3 },
    startupProbe: { exec: { command: ['x'] }, initialDelaySeconds: 0 },
    lifecycle: { postStart: HTTP, preStop: { sleep: { seconds: 3 } } },
  }),
  container('invalid probes', {
    livenessProbe: { ...HTTP, successThreshold: 2, periodSeconds: -1 },
    readinessProbe: { terminationGracePeriodSeconds: 3 },
    startupProbe: { exec: {}, tcpSocket: { port: 1 }, terminationGracePeriodSeconds: -1 },
    lifecycle: { postStart: {}, preStop: { httpGet: { port: 'A_', scheme: 'X', httpHeaders: [{ name: 'a b' }] } } },
  }),
  container('more invalid probes', {
    livenessProbe: { tcpSocket: {} },
    readinessProbe: { httpGet: { path: '/x', port: 0 } },
    startupProbe: { grpc: { port: 99_999 } },
  }),
  pod('init containers with probes', {
    initContainers: [
      { name: 'i', image: 'i', livenessProbe: HTTP, readinessProbe: HTTP, startupProbe: HTTP, lifecycle: {} },
      { name: 's', image: 'i', restartPolicy: 'Always', readinessProbe: HTTP },
      { name: 't', image: 'i', restartPolicy: 'X' },
    ],
  }),
  container('resources', {
    resources: { limits: { cpu: '0.5', memory: '1024Mi', 'example.com/gpu': 1 }, requests: { cpu: '100m' } },
  }),
  container('limits without requests', {
    resources: { limits: { cpu: '500m', memory: '1Gi' } },
  }),
  // One resource at a time: the real server checks them in random order.
  ...(
    [
      ['negative resources', { limits: { memory: '-1' } }],
      ['an unknown resource', { limits: { gpu: '1' } }],
      ['a resource with an invalid name', { requests: { 'a b': '1' } }],
      ['a request above the limit', { limits: { cpu: '1' }, requests: { cpu: '2' } }],
      [
        'more requested devices than the limit',
        { limits: { 'example.com/gpu': '1' }, requests: { 'example.com/gpu': '2' } },
      ],
      ['devices without limit', { requests: { 'example.com/gpu': '1' } }],
      ['a fractional device', { limits: { 'example.com/gpu': '500m' } }],
      ['huge pages without memory', { limits: { 'hugepages-2Mi': '2Mi' } }],
    ] as const
  ).map(([what, resources]) => container(`resources: ${what}`, { resources })),
  container('invalid quantities', { resources: { limits: { cpu: 'lots' } } }),
  container(
    'mounts',
    { volumeMounts: [{ name: 'v', mountPath: '/x', readOnly: false, subPath: 'a' }] },
    { volumes: [{ name: 'v' }] },
  ),
  container(
    'invalid mounts',
    {
      volumeMounts: [
        { name: 'v', mountPath: '/x' },
        { name: 'w', mountPath: '/x' },
        { mountPath: '' },
        { name: 'v', mountPath: '/y', subPath: '/a/../b', mountPropagation: 'X' },
        { name: 'v', mountPath: '/z', subPath: 'a', subPathExpr: 'b' },
      ],
    },
    { volumes: [{ name: 'v' }] },
  ),
  container(
    'security',
    {
      securityContext: { runAsUser: -1, runAsGroup: 2 ** 31, procMount: 'X', seccompProfile: { type: 'Localhost' } },
    },
    { securityContext: { fsGroup: -1, supplementalGroups: [-1], seccompProfile: {}, fsGroupChangePolicy: 'X' } },
  ),
  container(
    'more security',
    {
      securityContext: {
        privileged: true,
        allowPrivilegeEscalation: false,
        capabilities: { add: ['CAP_SYS_ADMIN'] },
        seccompProfile: { type: 'X' },
      },
    },
    {
      securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } },
      hostPID: true,
      shareProcessNamespace: true,
    },
  ),
  container(
    'zero values',
    {
      tty: false,
      stdin: false,
      workingDir: '',
      args: [],
      securityContext: {},
      ports: [{ containerPort: 1, name: '', hostPort: 0, hostIP: '' }],
    },
    { hostNetwork: false, hostPID: false, nodeName: '', hostname: '', subdomain: '', priorityClassName: '' },
  ),
  ...(
    [
      ['nothing', {}],
      ['a Secret', { secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } }],
      ['a ConfigMap', { configMap: { name: 'c' } }],
      ['the downward API', { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.labels' } }] } }],
      ['a path of the host', { hostPath: { path: '/x' } }],
      ['projections', { projected: { sources: [{ serviceAccountToken: { path: 'x' } }, { secret: { name: 's' } }] } }],
      ['a claim', { persistentVolumeClaim: { claimName: 'c', readOnly: false } }],
      [
        'an ephemeral claim',
        {
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
      ],
      ['an image', { image: { reference: 'x' } }],
      ['NFS', { nfs: { server: 's', path: '/x' } }],
      ['CSI', { csi: { driver: 'd' } }],
      ['two sources', { emptyDir: {}, hostPath: { path: '/x' } }],
      ['an empty path', { hostPath: { path: '' } }],
      ['a path with ".."', { hostPath: { path: '/a/../b', type: 'X' } }],
      [
        'a Secret without name',
        {
          secret: { defaultMode: 1000, items: [{ key: 'a b', path: '/x' }, {}, { key: 'a', path: '..x', mode: 9999 }] },
        },
      ],
      ['a ConfigMap without name', { configMap: { items: [{ key: 'a', path: 'a/../b' }] } }],
      [
        'unsupported downward API fields',
        {
          downwardAPI: {
            items: [
              { path: '' },
              { path: 'a', fieldRef: { fieldPath: 'spec.nodeName' } },
              { path: 'b', resourceFieldRef: { resource: 'limits.cpu' } },
            ],
          },
        },
      ],
      [
        'invalid projections',
        {
          projected: {
            sources: [{}, { serviceAccountToken: { expirationSeconds: 1 } }, { secret: {}, configMap: {} }],
          },
        },
      ],
      ['a claim without name', { persistentVolumeClaim: {} }],
      ['an ephemeral claim without a request', { ephemeral: { volumeClaimTemplate: { spec: {} } } }],
      ['NFS without server', { nfs: { path: 'x' } }],
      ['CSI without driver', { csi: {} }],
      ['an image without reference', { image: {} }],
      ['a negative size', { emptyDir: { sizeLimit: '-1' } }],
    ] as const
  ).map(([what, source]) => volume(`a volume of ${what}`, source)),
  pod('volumes without names', {
    volumes: [{ emptyDir: {} }, { name: 'A', emptyDir: {} }, { name: 'a' }, { name: 'a' }],
  }),
  pod('tolerations', {
    tolerations: [
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 },
      { key: 'b', value: 'c' },
    ],
  }),
  pod('invalid tolerations', {
    tolerations: [
      { operator: 'Equal' },
      { key: 'a b', operator: 'X' },
      { key: 'a', value: 'a b' },
      { key: 'a', effect: 'X' },
      { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
    ],
  }),
  pod('invalid affinities', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'a', operator: 'In' },
                { key: 'a b', operator: 'X' },
                { key: 'a', operator: 'Gt', values: ['1', '2'] },
                { key: 'a', operator: 'Exists', values: ['x'] },
              ],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{}],
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 101, podAffinityTerm: { topologyKey: 'a b', labelSelector: { matchLabels: { 'a b': 'c' } } } },
        ],
      },
    },
  }),
  pod('an affinity without terms', {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  }),
  pod('invalid topology spread constraints', {
    topologySpreadConstraints: [
      { maxSkew: 0, topologyKey: '', whenUnsatisfiable: '' },
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'X', minDomains: 0 },
      { maxSkew: 1, topologyKey: 'b', whenUnsatisfiable: 'DoNotSchedule' },
      { maxSkew: 1, topologyKey: 'b', whenUnsatisfiable: 'DoNotSchedule' },
    ],
  }),
  pod('invalid names', {
    serviceAccountName: 'default',
    nodeName: 'A',
    hostname: 'a.b',
    subdomain: 'A',
    activeDeadlineSeconds: 0,
    nodeSelector: { 'a b': 'c d' },
    imagePullSecrets: [{}],
    hostAliases: [{ ip: 'x', hostnames: ['A'] }],
    readinessGates: [{ conditionType: 'a b' }],
    schedulingGates: [{ name: 'a b' }],
  }),
  pod('a missing name server', { dnsPolicy: 'None' }),
  pod('invalid name servers', {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['x', '1.1.1.1', '1.1.1.1', '1.1.1.1'], options: [{}] },
  }),
  pod('the deprecated serviceAccount field', { serviceAccount: 'default' }),
];
