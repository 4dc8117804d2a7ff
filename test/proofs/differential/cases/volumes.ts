import { type Case, get, MERGE, patch, post, put, remove, repeated } from '../step.ts';

const CLAIMS = '/api/v1/namespaces/NS/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const DRY = '?dryRun=All';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
const claim = (more: object = {}, annotations: object = {}): object => ({
  metadata: { name: 'a', annotations },
  spec: { ...spec, ...more },
});
const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, hostPath: { path: '/a' } };
const storageClass = (name: string, isDefault: string, more: object = {}): object => ({
  metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': isDefault } },
  provisioner: 'proof.bowline.dev/x',
  ...more,
});
const sized = (storage: string): object => ({ spec: { resources: { requests: { storage } } } });

/** volumes covers the admission and validation of claims and volumes. */
export const volumes: readonly Case[] = [
  {
    name: 'default storage classes',
    steps: [
      post(`${CLAIMS}${DRY}`, claim()),
      post(CLASSES, storageClass('OWN-b', 'true')),
      post(CLASSES, storageClass('OWN-c', 'yes')),
      repeated(post(`${CLAIMS}${DRY}`, claim())),
      // Newer, and first by name.
      post(CLASSES, storageClass('OWN-a', 'true')),
      repeated(post(`${CLAIMS}${DRY}`, claim())),
      post(`${CLAIMS}${DRY}`, claim({ storageClassName: '' })),
      post(`${CLAIMS}${DRY}`, claim({ storageClassName: 'other' })),
      post(`${CLAIMS}${DRY}`, claim({}, { 'volume.beta.kubernetes.io/storage-class': 'old' })),
      post(CLAIMS, claim()),
      patch(`${CLAIMS}/a`, { spec: { storageClassName: 'OWN-b' } }, MERGE),
      patch(`${CLAIMS}/a`, { spec: { storageClassName: null } }, MERGE),
      remove(`${CLASSES}/OWN-a`),
      patch(
        `${CLASSES}/OWN-b`,
        { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': null } } },
        MERGE,
      ),
      repeated(post(`${CLAIMS}${DRY}`, { metadata: { name: 'b' }, spec })),
      remove(`${CLASSES}/OWN-b`),
      remove(`${CLASSES}/OWN-c`),
    ],
  },
  {
    name: 'protected volumes and claims',
    steps: [
      post(CLAIMS, claim()),
      remove(`${CLAIMS}/a`),
      get(`${CLAIMS}/a`),
      patch(`${CLAIMS}/a`, { metadata: { finalizers: null } }, MERGE),
      get(`${CLAIMS}/a`),
      post(CLAIMS, {
        metadata: { name: 'b', finalizers: ['kubernetes.io/pvc-protection', 'proof.bowline.dev/f'] },
        spec,
      }),
      post(VOLUMES, { metadata: { name: 'OWN', finalizers: ['proof.bowline.dev/f'] }, spec: volume }),
      remove(`${VOLUMES}/OWN`),
      get(`${VOLUMES}/OWN`),
      put(`${VOLUMES}/OWN`, { metadata: { name: 'OWN' }, spec: volume }),
      get(`${VOLUMES}/OWN`),
    ],
  },
  {
    name: 'a class that is set later',
    steps: [
      post(CLAIMS, claim()),
      patch(`${CLAIMS}/a`, { spec: { storageClassName: 'first', volumeName: 'v' } }, MERGE),
      patch(`${CLAIMS}/a`, { spec: { storageClassName: 'second' } }, MERGE),
      patch(`${CLAIMS}/a`, { spec: { volumeName: 'w' } }, MERGE),
      patch(`${CLAIMS}/a`, { spec: { accessModes: ['ReadOnlyMany'] } }, MERGE),
    ],
  },
  {
    name: 'sizes of claims',
    steps: [
      post(CLASSES, storageClass('OWN-fixed', 'false')),
      post(CLASSES, storageClass('OWN-grows', 'false', { allowVolumeExpansion: true })),
      post(CLAIMS, claim({ storageClassName: 'OWN-grows' })),
      patch(`${CLAIMS}/a`, sized('3Gi'), MERGE),
      patch(`${CLAIMS}/a`, sized('1Gi'), MERGE),
      patch(`${CLAIMS}/a/status`, { status: { phase: 'Bound', capacity: { storage: '2Gi' } } }, MERGE),
      repeated(patch(`${CLAIMS}/a${DRY}`, sized('3Gi'), MERGE)),
      patch(`${CLAIMS}/a`, sized('3Gi'), MERGE),
      patch(`${CLAIMS}/a`, sized('2500Mi'), MERGE),
      patch(`${CLAIMS}/a`, sized('2Gi'), MERGE),
      post(CLAIMS, { metadata: { name: 'b' }, spec: { ...spec, storageClassName: 'OWN-fixed' } }),
      patch(`${CLAIMS}/b/status`, { status: { phase: 'Bound', capacity: { storage: '2Gi' } } }, MERGE),
      patch(`${CLAIMS}/b`, sized('3Gi'), MERGE),
      remove(`${CLASSES}/OWN-fixed`),
      remove(`${CLASSES}/OWN-grows`),
    ],
  },
];
