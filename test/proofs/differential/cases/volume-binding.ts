import { awaiting, type Case, get, MERGE, patch, post, remove, type Step, TABLE } from '../step.ts';

const CLAIMS = '/api/v1/namespaces/NS/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const PODS = '/api/v1/namespaces/NS/pods';

const claim = (name: string, more: object = {}): Step =>
  post(CLAIMS, {
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'OWN',
      ...more,
    },
  });
/** A volume is not used before the binder has made it available. */
const volume = (name: string, more: object = {}): readonly Step[] => [
  post(VOLUMES, {
    metadata: { name: `OWN-${name}`, labels: { of: name } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'OWN',
      hostPath: { path: `/data/${name}` },
      ...more,
    },
  }),
  awaiting(`${VOLUMES}/OWN-${name}`, 'status.phase', 'Available'),
];
const claimIs = (name: string, phase: string): Step => awaiting(`${CLAIMS}/${name}`, 'status.phase', phase);
const volumeIs = (name: string, phase: string): Step => awaiting(`${VOLUMES}/OWN-${name}`, 'status.phase', phase);
const isGone = (path: string): Step => awaiting(path, 'code', 404);
const pod = (name: string, claims: readonly string[], more: object = {}): Step =>
  post(PODS, {
    metadata: { name },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      ...more,
    },
  });
const isRefused = (name: string, reason = 'Unschedulable'): Step =>
  awaiting(`${PODS}/${name}`, 'status.conditions.0.reason', reason);
const affinity = (value: string): object => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [value] }] }],
  },
});
const waits = { volumeBindingMode: 'WaitForFirstConsumer' };

const CASES: readonly Case[] = [
  {
    name: 'the volume of a claim',
    steps: [
      ...volume('large', { capacity: { storage: '3Gi' } }),
      ...volume('middle', { capacity: { storage: '2Gi' } }),
      ...volume('small', { capacity: { storage: '1Mi' } }),
      ...volume('block', { volumeMode: 'Block' }),
      ...volume('modes', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
      ...volume('other', { storageClassName: 'OWN-other' }),
      claim('a'),
      claimIs('a', 'Bound'),
      volumeIs('middle', 'Bound'),
      claim('b', { selector: { matchLabels: { of: 'modes' } } }),
      claimIs('b', 'Bound'),
      claim('c', { volumeMode: 'Block' }),
      claimIs('c', 'Bound'),
      claim('d', { accessModes: ['ReadWriteMany'] }),
      claimIs('d', 'Pending'),
      get(`${CLAIMS}?fieldSelector=metadata.name=a`, TABLE),
      get(`${VOLUMES}?fieldSelector=metadata.name=OWN-middle`, TABLE),
    ],
  },
  {
    name: 'volumes and claims that name each other',
    steps: [
      ...volume('for-a', { claimRef: { namespace: 'NS', name: 'a' } }),
      ...volume('named', { storageClassName: '' }),
      ...volume('small', { capacity: { storage: '1Mi' } }),
      claim('a'),
      claimIs('a', 'Bound'),
      volumeIs('for-a', 'Bound'),
      claim('b', { storageClassName: '', volumeName: 'OWN-named' }),
      claimIs('b', 'Bound'),
      volumeIs('named', 'Bound'),
      claim('too-large', { volumeName: 'OWN-small' }),
      claim('too-late', { volumeName: 'OWN-for-a' }),
      claim('none', { volumeName: 'OWN-none' }),
      ...['too-large', 'too-late', 'none'].map((name) => claimIs(name, 'Pending')),
    ],
  },
  {
    name: 'volumes of deleted claims',
    steps: [
      ...volume('kept'),
      ...volume('host', { persistentVolumeReclaimPolicy: 'Delete' }),
      ...volume('nfs', {
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: undefined,
        nfs: { server: 'a', path: '/b' },
      }),
      ...volume('csi', {
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: undefined,
        csi: { driver: 'a.example', volumeHandle: 'x' },
      }),
      ...['kept', 'host', 'nfs', 'csi'].flatMap((name) => [
        claim(name, { volumeName: `OWN-${name}` }),
        claimIs(name, 'Bound'),
        volumeIs(name, 'Bound'),
        remove(`${CLAIMS}/${name}`),
        isGone(`${CLAIMS}/${name}`),
      ]),
      volumeIs('kept', 'Released'),
      volumeIs('host', 'Failed'),
      volumeIs('nfs', 'Failed'),
      volumeIs('csi', 'Released'),
      patch(`${VOLUMES}/OWN-kept`, { spec: { claimRef: null } }, MERGE),
      volumeIs('kept', 'Available'),
    ],
  },
  {
    name: 'a lost volume',
    steps: [
      ...volume('a'),
      claim('a'),
      claimIs('a', 'Bound'),
      volumeIs('a', 'Bound'),
      remove(`${VOLUMES}/OWN-a`),
      get(`${VOLUMES}/OWN-a`),
      patch(`${VOLUMES}/OWN-a`, { metadata: { finalizers: null } }, MERGE),
      isGone(`${VOLUMES}/OWN-a`),
      claimIs('a', 'Lost'),
      pod('a', ['a']),
      isRefused('a'),
    ],
  },
  {
    name: 'Pods that wait for claims',
    steps: [
      pod('missing', ['none']),
      isRefused('missing'),
      claim('unbound', { volumeName: 'OWN-none' }),
      claimIs('unbound', 'Pending'),
      pod('unbound', ['unbound']),
      isRefused('unbound'),
      ...volume('elsewhere', { nodeAffinity: affinity('nowhere') }),
      claim('elsewhere'),
      claimIs('elsewhere', 'Bound'),
      pod('elsewhere', ['elsewhere']),
      isRefused('elsewhere'),
    ],
  },
  {
    name: 'claims that wait for their first consumer',
    steps: [
      post(CLASSES, { metadata: { name: 'OWN' }, provisioner: 'kubernetes.io/no-provisioner', ...waits }),
      claim('a'),
      claimIs('a', 'Pending'),
      pod('a', ['a']),
      isRefused('a'),
      post(VOLUMES, {
        metadata: { name: 'OWN-a' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1Gi' },
          storageClassName: 'OWN',
          hostPath: { path: '/data/a' },
          nodeAffinity: affinity('bowline-1'),
        },
      }),
      volumeIs('a', 'Bound'),
      claimIs('a', 'Bound'),
      remove(`${CLASSES}/OWN`),
    ],
  },
  {
    name: 'provisioned volumes',
    steps: [
      get(`${CLASSES}/bowline-local`),
      claim('a', { storageClassName: undefined }),
      claimIs('a', 'Bound'),
      awaiting(`${VOLUMES}/{{2.spec.volumeName}}`, 'status.phase', 'Bound'),
      remove(`${CLAIMS}/a`),
      isGone(`${VOLUMES}/{{2.spec.volumeName}}`),
      post(CLASSES, { metadata: { name: 'OWN' }, provisioner: 'node-agent.bowline.dev/local', ...waits }),
      claim('b'),
      claimIs('b', 'Pending'),
      pod('b', ['b'], { nodeSelector: { 'kubernetes.io/hostname': 'bowline-1' } }),
      claimIs('b', 'Bound'),
      awaiting(`${VOLUMES}/{{10.spec.volumeName}}`, 'status.phase', 'Bound'),
      remove(`${CLASSES}/OWN`),
      claim('c', { storageClassName: 'OWN-none' }),
      claimIs('c', 'Pending'),
    ],
  },
];

/** volumeBinding covers what the binder, the scheduler and the node agent do with claims and volumes. */
export const volumeBinding: readonly Case[] = CASES.map((each) => ({ ...each, hasControllers: true }));
