import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const VOLUMES = '/api/v1/persistentvolumes';
const CLAIMS = '/api/v1/namespaces/NS/persistentvolumeclaims';
const DRIVERS = '/apis/storage.k8s.io/v1/csidrivers';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';

const tried = (path: string, object: object): Step => [
  'POST',
  `${path}${DRY}`,
  { metadata: { name: 'OWN-n' }, ...object },
];
const volume = (spec: object): Step => tried(VOLUMES, { spec });
const claim = (spec: object): Step => tried(CLAIMS, { spec });
const driver = (spec: object, name = 'OWN.n'): Step => tried(DRIVERS, { metadata: { name }, spec });
const GOOD_VOLUME = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
/** With a class: admission would add the default one, and the compared server has none. */
const GOOD_CLAIM = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  storageClassName: '',
};

/** CASES covers storage kinds. */
export const CASES: readonly Case[] = [
  [
    'a volume',
    volume(GOOD_VOLUME),
    volume({}),
    volume({ ...GOOD_VOLUME, capacity: { storage: '-1', cpu: '1' } }),
    volume({ ...GOOD_VOLUME, accessModes: [] }),
    volume({ ...GOOD_VOLUME, accessModes: ['Nope', 'ReadWriteOncePod', 'ReadOnlyMany'] }),
    volume({ ...GOOD_VOLUME, persistentVolumeReclaimPolicy: 'Nope' }),
    volume({ ...GOOD_VOLUME, hostPath: { path: '' } }),
    volume({ ...GOOD_VOLUME, hostPath: { path: '/', type: 'Nope' } }),
    volume({ ...GOOD_VOLUME, hostPath: { path: '/a/../b' } }),
    volume({ ...GOOD_VOLUME, hostPath: undefined }),
    volume({ ...GOOD_VOLUME, nfs: { server: 'a', path: '/b' } }),
    volume({ ...GOOD_VOLUME, hostPath: undefined, nfs: { server: '', path: 'b' } }),
    volume({ ...GOOD_VOLUME, hostPath: undefined, csi: { driver: 'a.b', volumeHandle: 'x' } }),
    volume({ ...GOOD_VOLUME, hostPath: undefined, csi: {} }),
    volume({ ...GOOD_VOLUME, hostPath: undefined, local: { path: '/a' } }),
    volume({ ...GOOD_VOLUME, storageClassName: 'A_B', volumeMode: 'Nope' }),
    volume({ ...GOOD_VOLUME, claimRef: { name: 'a', namespace: 'b' }, storageClassName: 'x', mountOptions: ['a'] }),
    volume({ ...GOOD_VOLUME, persistentVolumeReclaimPolicy: 'Recycle' }),
    ['POST', VOLUMES, { metadata: { name: 'OWN-v' }, spec: { ...GOOD_VOLUME, storageClassName: 'OWN' } }],
    ['PATCH', `${VOLUMES}/OWN-v/status`, { status: { phase: 'Available' } }, MERGE],
    [
      'PATCH',
      `${VOLUMES}/OWN-v`,
      { spec: { capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete' } },
      MERGE,
    ],
    ['PATCH', `${VOLUMES}/OWN-v`, { spec: { volumeMode: 'Block' } }, MERGE],
    table(`${VOLUMES}?fieldSelector=metadata.name=OWN-v`),
  ],
  [
    'a claim',
    claim(GOOD_CLAIM),
    claim({}),
    tried(CLAIMS, {}),
    claim({ ...GOOD_CLAIM, accessModes: [] }),
    claim({ ...GOOD_CLAIM, accessModes: ['Nope', 'ReadWriteOncePod'] }),
    claim({ ...GOOD_CLAIM, resources: {} }),
    claim({ ...GOOD_CLAIM, resources: { requests: { storage: '0' } } }),
    claim({ ...GOOD_CLAIM, resources: { requests: { storage: '2Gi' }, limits: { storage: '1Gi' } } }),
    claim({ ...GOOD_CLAIM, storageClassName: 'A_B', volumeMode: 'Nope' }),
    claim({ ...GOOD_CLAIM, storageClassName: '', volumeName: 'v', selector: { matchLabels: { 'a b': 'c' } } }),
    claim({ ...GOOD_CLAIM, dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } }),
    claim({ ...GOOD_CLAIM, dataSource: { kind: 'x', name: '' } }),
    claim({ ...GOOD_CLAIM, dataSource: { kind: 'x', name: 'y', apiGroup: 'a.b' } }),
    ['POST', CLAIMS, { metadata: { name: 'c' }, spec: { ...GOOD_CLAIM, storageClassName: 'OWN-none' } }],
    table(CLAIMS),
  ],
  [
    'a CSI driver',
    driver({}),
    tried(DRIVERS, {}),
    driver({ attachRequired: false, volumeLifecycleModes: ['Ephemeral', 'Persistent'], fsGroupPolicy: 'File' }),
    driver({}, 'OWN-Nope!'),
    driver({}, 'OWN.Upper'),
    driver({ fsGroupPolicy: 'Nope', volumeLifecycleModes: ['Nope', 'Persistent', 'Persistent'] }),
    driver({
      tokenRequests: [
        { audience: 'a', expirationSeconds: 1 },
        { audience: 'a', expirationSeconds: 1 },
        { audience: 'b', expirationSeconds: 4_294_967_297 },
        { audience: '' },
      ],
      requiresRepublish: true,
    }),
    driver({ tokenRequests: [{ audience: 'a', expirationSeconds: 3600 }, { audience: '' }] }),
    driver({ nodeAllocatableUpdatePeriodSeconds: 5 }),
    driver({ nodeAllocatableUpdatePeriodSeconds: 10 }),
    driver({ serviceAccountTokenInSecrets: true }),
    driver({ serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: 'a' }] }),
    ['POST', DRIVERS, { metadata: { name: 'OWN.d' }, spec: { tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }],
    ['PATCH', `${DRIVERS}/OWN.d`, { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } }, MERGE],
    ['PATCH', `${DRIVERS}/OWN.d`, { spec: { podInfoOnMount: true, storageCapacity: true } }, MERGE],
    ['PATCH', `${DRIVERS}/OWN.d`, { spec: { tokenRequests: [{ audience: 'c' }] } }, MERGE],
    ['PATCH', `${DRIVERS}/OWN.d`, { metadata: { labels: { a: 'b' } } }, MERGE],
    ['PATCH', `${DRIVERS}/OWN.d`, { spec: { requiresRepublish: true, tokenRequests: null } }, MERGE],
    ['PATCH', `${DRIVERS}/OWN.d`, { spec: { seLinuxMount: true, fsGroupPolicy: 'File' } }, MERGE],
    table(`${DRIVERS}?fieldSelector=metadata.name=OWN.d`),
    ['DELETE', `${DRIVERS}/OWN.d`],
  ],
  [
    'a storage class',
    tried(CLASSES, { provisioner: 'a.b/c' }),
    tried(CLASSES, {}),
    tried(CLASSES, { provisioner: 'A_B!', reclaimPolicy: 'Nope', volumeBindingMode: 'Nope' }),
    tried(CLASSES, { provisioner: 'a', reclaimPolicy: 'Recycle' }),
    tried(CLASSES, { provisioner: 'a', parameters: { '': 'x' } }),
    tried(CLASSES, {
      provisioner: 'a',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['b'] }] }],
      mountOptions: ['x'],
    }),
    [
      'POST',
      CLASSES,
      {
        metadata: { name: 'OWN-s' },
        provisioner: 'a',
        allowVolumeExpansion: true,
      },
    ],
    [
      'PATCH',
      `${CLASSES}/OWN-s`,
      { provisioner: 'b', parameters: { a: 'b' }, reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' },
      MERGE,
    ],
    ['PATCH', `${CLASSES}/OWN-s`, { allowVolumeExpansion: null, metadata: { annotations: null } }, MERGE],
    table(`${CLASSES}?fieldSelector=metadata.name=OWN-s`),
    ['DELETE', `${CLASSES}/OWN-s`],
  ],
];
