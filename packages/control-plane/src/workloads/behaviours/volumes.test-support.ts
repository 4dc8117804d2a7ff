import {
  Event,
  type KubernetesObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  Pod,
  type PodSpec,
  ServiceAccount,
  StorageClass,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { Cluster } from '../../testing/cluster.ts';
import { container, type OpenCluster } from './behaviour.test-support.ts';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;

/** TestVolumes creates the storage objects of one test: volumes and classes are shared, so their names are unique. */
class TestVolumes {
  readonly className: string;
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.className = cluster.uniqueName('class');
  }

  /** volume creates a volume of the test's class and waits until the binder knows it. */
  async volume(spec: Partial<VolumeSpec> = {}, labels: Record<string, string> = {}): Promise<string> {
    const c = this.#cluster;
    const name = c.uniqueName('volume');
    const { className: storageClassName } = this;
    const capacity = { storage: '1Gi' };
    const source = { hostPath: { path: `/data/${name}` } };
    await c.admin.create(PersistentVolume, {
      metadata: { name, labels },
      spec: { accessModes: ['ReadWriteOnce'], capacity, storageClassName, ...source, ...spec },
    });
    c.onDispose(async () => {
      if (!(await c.admin.find(PersistentVolume, { name }))) return;
      const body = { metadata: { finalizers: null } };
      await c.admin.delete(PersistentVolume, { name });
      // A claim of a namespace that is deleted later may still be bound to it.
      await c.admin.patch(PersistentVolume, { name }, { type: 'merge', body }).catch(() => undefined);
    });
    await c.until(PersistentVolume, { name }, ({ status }) => status?.phase !== 'Pending');
    return name;
  }

  untilPhase(name: string, phase: string): Promise<PersistentVolume> {
    return this.#cluster.until(PersistentVolume, { name }, ({ status }) => status?.phase === phase);
  }

  /** claim creates a claim of the test's class. */
  async claim(name: string, spec: Partial<PersistentVolumeClaimSpec> = {}): Promise<void> {
    const { admin, namespace } = this.#cluster;
    const resources = { requests: { storage: '1Gi' } };
    const { className: storageClassName } = this;
    const whole = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName, ...spec };
    await admin.create(PersistentVolumeClaim, { metadata: { name, namespace }, spec: whole });
  }

  untilClaim(name: string, phase: string): Promise<PersistentVolumeClaim> {
    return this.#cluster.until(PersistentVolumeClaim, { name }, ({ status }) => status?.phase === phase);
  }

  async storageClass(more: Pick<StorageClass, 'provisioner' | 'volumeBindingMode'>): Promise<void> {
    const { admin } = this.#cluster;
    const name = this.className;
    await admin.create(StorageClass, { metadata: { name }, ...more });
    this.#cluster.onDispose(() => admin.delete(StorageClass, { name }));
  }

  /** pod creates a Pod that mounts claims. */
  async pod(name: string, claims: readonly string[], more: Partial<PodSpec> = {}): Promise<void> {
    const { admin, namespace } = this.#cluster;
    await this.#cluster.until(ServiceAccount, { name: 'default' }, () => true);
    const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    await admin.create(Pod, { metadata: { name, namespace }, spec: { containers: [container], volumes, ...more } });
  }

  /** untilRefused waits until the scheduler reports a problem about a Pod. The number of nodes depends on other tests. */
  untilRefused(name: string, problem: RegExp, reason = 'Unschedulable'): Promise<Pod> {
    return this.#cluster.until(Pod, { name }, ({ status }) =>
      (status?.conditions ?? []).some(
        (each) =>
          each.type === 'PodScheduled' &&
          each.status === 'False' &&
          each.reason === reason &&
          problem.test(each.message ?? ''),
      ),
    );
  }

  untilRunning(name: string): Promise<Pod> {
    return this.#cluster.until(Pod, { name }, ({ status }) => status?.phase === 'Running');
  }

  /** untilEvent waits for an event. Those of cluster-scoped objects are in the namespace `default`. */
  async untilEvent(of: string, reason: string, message: string, namespace = this.#cluster.namespace): Promise<void> {
    await this.#cluster.untilList(Event, { namespace }, (events) =>
      events.some((event) => event.involvedObject.name === of && event.reason === reason && event.message === message),
    );
  }
}

const hostname = 'kubernetes.io/hostname';
const on = (name: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: hostname, operator: 'In' as const, values: [name] }] }] },
});
const annotationsOf = ({ metadata }: KubernetesObject) => Object.keys(metadata?.annotations ?? {}).toSorted();

const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';

/** volumes tests how claims are bound to volumes, and that Pods wait for them. */
export function volumes(open: OpenCluster): void {
  it.concurrent('binds a claim to the smallest volume that fits', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const labels = { tier: 'fast' };
    await t.volume({ capacity: { storage: '3Gi' } }, labels);
    const fitting = await t.volume({ capacity: { storage: '2Gi' } }, labels);
    await t.volume({ capacity: { storage: '1500Mi' } });
    await t.volume({ capacity: { storage: '500Mi' } }, labels);
    await t.volume({ capacity: { storage: '1500Mi' }, accessModes: ['ReadOnlyMany'] }, labels);
    await t.volume({ capacity: { storage: '1500Mi' }, volumeMode: 'Block' }, labels);
    await t.volume({ capacity: { storage: '1500Mi' }, storageClassName: '' }, labels);
    // More access modes than requested: only of use if nothing else fits.
    await t.volume({ capacity: { storage: '1500Mi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }, labels);
    await t.claim('data', { selector: { matchLabels: labels } });
    const claim = await t.untilClaim('data', 'Bound');
    expect(claim.spec?.volumeName).toBe(fitting);
    expect(claim.status).toMatchObject({ accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } });
    expect(annotationsOf(claim)).toEqual([BIND_COMPLETED, BOUND_BY_CONTROLLER]);
    expect(claim.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    const volume = await t.untilPhase(fitting, 'Bound');
    expect(volume.spec?.claimRef).toMatchObject({ kind: 'PersistentVolumeClaim', uid: claim.metadata?.uid });
    expect(annotationsOf(volume)).toEqual([BOUND_BY_CONTROLLER]);
    expect(volume.metadata?.finalizers).toEqual(['kubernetes.io/pv-protection']);
  });

  it.concurrent('binds claims and volumes that name each other, if they fit', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const reserved = await t.volume({ claimRef: { namespace: c.namespace, name: 'reserved' } });
    const [named, small] = [await t.volume(), await t.volume({ capacity: { storage: '1Mi' } })];
    await t.claim('reserved');
    await t.claim('naming', { volumeName: named });
    await t.claim('too-large', { volumeName: small });
    await t.claim('too-late', { volumeName: reserved });
    const [first, second] = [await t.untilClaim('reserved', 'Bound'), await t.untilClaim('naming', 'Bound')];
    expect([first.spec?.volumeName, annotationsOf(first)]).toEqual([reserved, [BIND_COMPLETED, BOUND_BY_CONTROLLER]]);
    expect([second.spec?.volumeName, annotationsOf(second)]).toEqual([named, [BIND_COMPLETED]]);
    expect(annotationsOf(await t.untilPhase(reserved, 'Bound'))).toEqual([]);
    const mismatch = `Cannot bind to requested volume "${small}": requested PV is too small`;
    await t.untilEvent('too-large', 'VolumeMismatch', mismatch);
    await t.untilEvent('too-late', 'FailedBinding', `volume "${reserved}" already bound to a different claim.`);
    await t.untilClaim('too-late', 'Pending');
  });

  it.concurrent('applies the reclaim policy of a volume when its claim is deleted', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const policy = 'Delete' as const;
    const [kept, failed] = [await t.volume(), await t.volume({ persistentVolumeReclaimPolicy: policy })];
    await t.claim('kept', { volumeName: kept });
    await t.claim('failed', { volumeName: failed });
    for (const name of ['kept', 'failed']) {
      await t.untilClaim(name, 'Bound');
      await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name });
    }
    await t.untilPhase(kept, 'Released');
    const { status } = await t.untilPhase(failed, 'Failed');
    const message = `host_path deleter only supports /tmp/.+ but received provided /data/${failed}`;
    expect(status?.message).toBe(message);
    await t.untilEvent(failed, 'VolumeFailedDelete', message, 'default');
    // A released volume is not bound again, although another claim would fit.
    await t.claim('next');
    await t.untilEvent('next', 'ProvisioningFailed', `storageclass.storage.k8s.io "${t.className}" not found`);
    await t.untilClaim('next', 'Pending');
  });

  it.concurrent('keeps a bound volume until its claim is gone, and reports a claim without its volume as lost', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const name = await t.volume();
    await t.claim('data');
    await t.untilClaim('data', 'Bound');
    await t.untilPhase(name, 'Bound');
    await c.admin.delete(PersistentVolume, { name });
    await c.until(PersistentVolume, { name }, ({ metadata }) => metadata?.deletionTimestamp !== undefined);
    await c.admin.patch(PersistentVolume, { name }, { type: 'merge', body: { metadata: { finalizers: null } } });
    const { status } = await t.untilClaim('data', 'Lost');
    expect(status).toEqual({ phase: 'Lost' });
    await t.untilEvent('data', 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
    await t.pod('web', ['data']);
    await t.untilRefused(
      'web',
      new RegExp(
        `^0/\\d+ nodes are available: persistentvolumeclaim "data" bound to non-existent persistentvolume "${name}"\\. not found$`,
      ),
    );
  });

  it.concurrent('lets Pods wait for their claims, and reports what they wait for', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    await t.pod('web', ['data']);
    await t.untilRefused('web', /^0\/\d+ nodes are available: persistentvolumeclaim "data" not found\. not found$/);
    await t.claim('data', { volumeName: 'later' });
    await t.untilRefused('web', /: pod has unbound immediate PersistentVolumeClaims\. not found$/);
    await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' });
    await c.untilGone(PersistentVolumeClaim, { name: 'data' });
    await t.volume();
    await t.claim('data');
    await t.untilRunning('web');
    // In use: the claim stays until the Pod is gone.
    await c.admin.delete(PersistentVolumeClaim, { namespace: c.namespace, name: 'data' });
    await t.pod('late', ['data']);
    await t.untilRefused('late', /: persistentvolumeclaim "data" is being deleted\. not found$/);
    await c.admin.delete(Pod, { namespace: c.namespace, name: 'web' });
    await c.untilGone(PersistentVolumeClaim, { name: 'data' });
  });

  it.concurrent('runs a Pod on a node that has access to its volumes', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const nodes = (await c.admin.list(Node)).items.map(({ metadata }) => metadata?.name ?? '').toSorted();
    const [node = ''] = nodes;
    await t.volume({ nodeAffinity: on(node) });
    await t.claim('here');
    await t.untilClaim('here', 'Bound');
    await t.pod('here', ['here']);
    expect((await t.untilRunning('here')).spec?.nodeName).toBe(node);
    await t.volume({ nodeAffinity: on('nowhere') });
    await t.claim('nowhere');
    await t.untilClaim('nowhere', 'Bound');
    await t.pod('nowhere', ['nowhere']);
    await t.untilRefused(
      'nowhere',
      /: (.*, )?\d+ node\(s\) didn't match PersistentVolume's node affinity(, .*)?\. no new claims to deallocate, preemption: /,
    );
  });

  it.concurrent('lets only one Pod use a volume with the access mode ReadWriteOncePod', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    const accessModes = ['ReadWriteOncePod' as const];
    await t.volume({ accessModes });
    await t.claim('data', { accessModes });
    await t.untilClaim('data', 'Bound');
    await t.pod('first', ['data']);
    await t.untilRunning('first');
    await t.pod('second', ['data']);
    await t.untilRefused(
      'second',
      /\d+ node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod/,
    );
    await c.admin.delete(Pod, { namespace: c.namespace, name: 'first' });
    await t.untilRunning('second');
  });

  it.concurrent('binds a claim that waits for its first consumer to a volume of the node of its Pod', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    await t.storageClass({ provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' });
    await t.claim('data');
    await t.untilEvent('data', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
    await t.pod('web', ['data']);
    await t.untilRefused('web', /\d+ node\(s\) didn't find available persistent volumes to bind/);
    const nodes = (await c.admin.list(Node)).items.map(({ metadata }) => metadata?.name ?? '').toSorted();
    const [node = ''] = nodes;
    const name = await t.volume({ nodeAffinity: on(node) });
    expect((await t.untilRunning('web')).spec?.nodeName).toBe(node);
    expect((await t.untilClaim('data', 'Bound')).spec?.volumeName).toBe(name);
    const { metadata } = await t.untilPhase(name, 'Bound');
    const owners = metadata?.managedFields?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:claimRef'));
    expect(owners?.map(({ manager }) => manager)).toEqual(['kube-scheduler']);
  });

  it.concurrent('creates the claims of ephemeral volumes, and deletes them with their Pod', async () => {
    await using c = await open();
    const t = new TestVolumes(c);
    await t.volume();
    const spec: PersistentVolumeClaimSpec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: t.className,
    };
    const volumeClaimTemplate = { metadata: { labels: { of: 'web' } }, spec };
    await t.pod('web', [], { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] });
    const pod = await t.untilRunning('web');
    const { metadata } = await t.untilClaim('web-scratch', 'Bound');
    expect(metadata?.labels).toEqual({ of: 'web' });
    expect(metadata?.ownerReferences).toMatchObject([{ kind: 'Pod', uid: pod.metadata?.uid, controller: true }]);
    await c.admin.delete(Pod, { namespace: c.namespace, name: 'web' });
    await c.untilGone(PersistentVolumeClaim, { name: 'web-scratch' });
  });
}
