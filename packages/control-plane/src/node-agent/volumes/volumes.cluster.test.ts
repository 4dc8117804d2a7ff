import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Event,
  PersistentVolume,
  PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  Pod,
  ServiceAccount,
  StatefulSet,
  StorageClass,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { type Cluster, cluster } from '../../testing/cluster.ts';
import { BEHAVIOUR_ANNOTATION } from '../behaviour.ts';
import { PROVISIONER, STORAGE_CLASS } from './provisioner.ts';

const spec: PersistentVolumeClaimSpec = {
  accessModes: ['ReadWriteMany'],
  resources: { requests: { storage: '1Gi' } },
};
const containers = [{ name: 'main', image: 'example.test/main:1' }];

async function createClaim(c: Cluster, name: string, more: PersistentVolumeClaimSpec = {}, annotations = {}) {
  const metadata = { name, namespace: c.namespace, labels: { app: name }, annotations };
  return c.admin.create(PersistentVolumeClaim, { metadata, spec: { ...spec, ...more } });
}

const untilBound = (c: Cluster, name: string): Promise<PersistentVolumeClaim> =>
  c.until(PersistentVolumeClaim, { name }, ({ status }) => status?.phase === 'Bound');

async function volumeOf(c: Cluster, claim: PersistentVolumeClaim): Promise<PersistentVolume> {
  return c.admin.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' });
}

async function untilEvent(c: Cluster, reason: string, message: string, namespace = c.namespace): Promise<void> {
  await c.untilList(Event, { namespace }, (events) =>
    events.some((event) => event.reason === reason && event.message === message),
  );
}

/** createClass creates a class of the provisioner, with a name of its own: classes are shared with other tests. */
async function createClass(c: Cluster, more: Partial<StorageClass>): Promise<string> {
  const name = c.uniqueName('class');
  await c.admin.create(StorageClass, { metadata: { name }, provisioner: PROVISIONER, ...more });
  c.onDispose(() => c.admin.delete(StorageClass, { name }));
  return name;
}

async function createPod(c: Cluster, claimName: string): Promise<void> {
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
  await c.admin.create(Pod, { metadata: { name: 'web', namespace: c.namespace }, spec: { containers, volumes } });
}

it('provisions a folder for a claim of the default class, and deletes it with the claim', async () => {
  await using c = await cluster();
  const created = await createClaim(c, 'data');
  expect(created.spec?.storageClassName).toBe(STORAGE_CLASS);
  const claim = await untilBound(c, 'data');
  const volume = await volumeOf(c, claim);
  expect(volume).toMatchObject({
    metadata: {
      name: `pvc-${created.metadata?.uid}`,
      annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER },
      finalizers: ['external-provisioner.volume.kubernetes.io/finalizer', 'kubernetes.io/pv-protection'],
    },
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '1Gi' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: STORAGE_CLASS,
    },
  });
  const { path = '' } = volume.spec?.hostPath ?? {};
  await writeFile(join(path, 'file'), 'content');
  await untilEvent(c, 'ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata?.name}`);
  await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' });
  await c.untilGone(PersistentVolume, { name: volume.metadata?.name ?? '' });
  expect(existsSync(path)).toBe(false);
});

it('keeps the folder of a class that retains its volumes, and of a volume with another path', async () => {
  await using c = await cluster();
  const storageClassName = await createClass(c, { reclaimPolicy: 'Retain' });
  await createClaim(c, 'data', { storageClassName });
  const volume = await volumeOf(c, await untilBound(c, 'data'));
  const { name = '' } = volume.metadata ?? {};
  const { path = '' } = volume.spec?.hostPath ?? {};
  await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' });
  await c.until(PersistentVolume, { name }, ({ status }) => status?.phase === 'Released');
  await c.admin.delete(PersistentVolume, { name });
  await c.untilGone(PersistentVolume, { name });
  expect(existsSync(path)).toBe(true);

  // Any user who may create volumes could claim that a folder was provisioned.
  const other = c.uniqueName('other');
  await c.admin.create(PersistentVolume, {
    metadata: { name: other, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '1Gi' },
      claimRef: { namespace: c.namespace, name: 'other' },
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path },
    },
  });
  await createClaim(c, 'other', { storageClassName: '', volumeName: other });
  await untilBound(c, 'other');
  await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'other' });
  await c.untilGone(PersistentVolume, { name: other });
  expect(existsSync(path)).toBe(true);
});

it('provisions for the node that the scheduler selected, if the class waits for the first consumer', async () => {
  await using c = await cluster();
  const storageClassName = await createClass(c, { volumeBindingMode: 'WaitForFirstConsumer' });
  await createClaim(c, 'data', { storageClassName });
  await untilEvent(c, 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  await createPod(c, 'data');
  const pod = await c.until(Pod, { name: 'web' }, ({ status }) => status?.phase === 'Running');
  const claim = await untilBound(c, 'data');
  const node = claim.metadata?.annotations?.['volume.kubernetes.io/selected-node'];
  expect(pod.spec?.nodeName).toBe(node);
  const [term] = (await volumeOf(c, claim)).spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  expect(term?.matchExpressions).toEqual([{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }]);
});

it('holds volumes of claims that do not exist yet until they are released', async () => {
  await using c = await cluster();
  const held = await c.nodeAgent.volumes.hold({ selector: 'app=data' });
  await createClaim(c, 'data');
  await createClaim(c, 'other');
  await untilBound(c, 'other');
  await createPod(c, 'data');
  await c.until(Pod, { name: 'web' }, ({ status }) =>
    (status?.conditions ?? []).some(({ message }) =>
      /pod has unbound immediate PersistentVolumeClaims/.test(message ?? ''),
    ),
  );
  expect((await c.admin.get(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' })).status?.phase).toBe(
    'Pending',
  );
  await held.release();
  await c.until(Pod, { name: 'web' }, ({ status }) => status?.phase === 'Running');

  await using _ = await c.nodeAgent.volumes.hold({ name: 'other' });
  const { spec: bound } = await untilBound(c, 'other');
  await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'other' });
  await c.until(PersistentVolume, { name: bound?.volumeName ?? '' }, ({ status }) => status?.phase === 'Released');
});

it('fails to provision and to delete volumes, with the reason, until it is released', async () => {
  await using c = await cluster();
  const failing = await c.nodeAgent.volumes.fail({ name: 'data' }, { message: 'the disk is full' });
  await createClaim(c, 'data');
  const failed = `failed to provision volume with StorageClass "${STORAGE_CLASS}"`;
  await untilEvent(c, 'ProvisioningFailed', `${failed}: the disk is full`);
  await createClaim(c, 'block', { volumeMode: 'Block' });
  await untilEvent(
    c,
    'ProvisioningFailed',
    `${failed}: a folder is not a block device: spec.volumeMode must be Filesystem`,
  );
  await createClaim(c, 'wrong', {}, { [BEHAVIOUR_ANNOTATION]: 'dream' });
  const problem = 'cannot steer the node agent: unknown volume behaviour "dream"; use one of hold, fail';
  await untilEvent(c, 'ProvisioningFailed', `${failed}: ${problem}`);
  await failing.release();
  const { spec: bound } = await untilBound(c, 'data');
  const again = await c.nodeAgent.volumes.fail({}, { message: 'the disk is broken' });
  await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' });
  await untilEvent(c, 'VolumeFailedDelete', 'the disk is broken', 'default');
  await again.release();
  await c.untilGone(PersistentVolume, { name: bound?.volumeName ?? '' });
});

it('lets the scheduler select a node again when provisioning for a node fails', async () => {
  await using c = await cluster();
  const storageClassName = await createClass(c, { volumeBindingMode: 'WaitForFirstConsumer' });
  const failing = await c.nodeAgent.volumes.fail();
  await createClaim(c, 'data', { storageClassName });
  await createPod(c, 'data');
  await c.until(Pod, { name: 'web' }, ({ status }) =>
    (status?.conditions ?? []).some(
      ({ type, reason, message }) =>
        type === 'PodScheduled' &&
        reason === 'SchedulerError' &&
        message === 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"',
    ),
  );
  await failing.release();
  await c.until(Pod, { name: 'web' }, ({ status }) => status?.phase === 'Running');
});

it('gives every Pod of a StatefulSet its own volume, which outlives the Pod', async () => {
  await using c = await cluster();
  const labels = { app: 'db' };
  const template = { metadata: { labels }, spec: { containers } };
  const metadata = { name: 'db', namespace: c.namespace };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  const sets = { replicas: 2, serviceName: 'db', selector: { matchLabels: labels }, template, volumeClaimTemplates };
  await c.admin.create(StatefulSet, { metadata, spec: sets });
  await c.until(StatefulSet, metadata, ({ status }) => status?.readyReplicas === 2);
  const before = [await untilBound(c, 'data-db-0'), await untilBound(c, 'data-db-1')];
  expect(new Set(before.map((claim) => claim.spec?.volumeName)).size).toBe(2);
  const pod = await c.admin.get(Pod, { namespace: c.namespace, name: 'db-0' });
  await c.admin.delete(Pod, { namespace: c.namespace, name: 'db-0' });
  await c.until(
    Pod,
    { name: 'db-0' },
    ({ metadata: now, status }) => now?.uid !== pod.metadata?.uid && status?.phase === 'Running',
  );
  expect((await untilBound(c, 'data-db-0')).spec?.volumeName).toBe(before[0]?.spec?.volumeName);
});
