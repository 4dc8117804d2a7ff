import {
  ControllerRevision,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Event,
  Job,
  keyOf,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { container, type OpenCluster, podTemplate, selector, web } from './behaviour.test-support.ts';

const image2 = { spec: { template: { spec: { containers: [{ ...container, image: 'example.test/main:2' }] } } } };

/** orderedAndDaemons tests the expected behaviour of StatefulSets, DaemonSets, Services and budgets. */
export function orderedAndDaemons(open: OpenCluster): void {
  it.concurrent('creates the Pods of a StatefulSet in order, and deletes them in reverse order', async () => {
    await using c = await open();
    const metadata = { name: 'db', namespace: c.namespace };
    const spec = { replicas: 3, serviceName: 'db', selector, template: podTemplate() };
    const key = keyOf(await c.admin.create(StatefulSet, { metadata, spec }));
    const seen: string[][] = [];
    const watchUntil = (count: number) =>
      c.untilList(Pod, {}, (pods) => {
        seen.push(pods.map((pod) => pod.metadata?.name ?? '').toSorted());
        return pods.length === count && pods.every(({ status }) => status?.phase === 'Running');
      });
    const pods = await watchUntil(3);
    expect(pods.find((pod) => pod.metadata?.name === 'db-1')).toMatchObject({
      metadata: {
        generateName: 'db-',
        labels: { 'statefulset.kubernetes.io/pod-name': 'db-1', 'apps.kubernetes.io/pod-index': '1' },
      },
      spec: { hostname: 'db-1', subdomain: 'db' },
    });
    const status = await c.until(StatefulSet, key, (set) => set.status?.availableReplicas === 3);
    expect(status.status).toMatchObject({ replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
    await c.admin.patch(StatefulSet, key, { type: 'merge', body: { spec: { replicas: 1 } } });
    await watchUntil(1);
    const all = ['db-0', 'db-1', 'db-2'];
    for (const names of seen) expect(names).toEqual(all.slice(0, names.length));
    const notes = ['Create Pod db-2 in StatefulSet db successful', 'Delete Pod db-2 in StatefulSet db successful'];
    await c.untilList(Event, {}, (events) => notes.every((note) => events.some(({ message }) => message === note)));
  });

  it.concurrent('updates a StatefulSet down to its partition, and keeps the Pods below it', async () => {
    await using c = await open();
    const metadata = { name: 'db', namespace: c.namespace };
    const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { partition: 1 } };
    const podManagementPolicy = 'Parallel' as const;
    const spec = {
      replicas: 2,
      serviceName: 'db',
      selector,
      template: podTemplate(),
      updateStrategy,
      podManagementPolicy,
    };
    const key = keyOf(await c.admin.create(StatefulSet, { metadata, spec }));
    const first = await c.until(StatefulSet, key, ({ status }) => status?.readyReplicas === 2);
    await c.admin.patch(StatefulSet, key, { type: 'merge', body: image2 });
    const images = (pods: readonly Pod[]) =>
      pods.map((pod) => [pod.metadata?.name, pod.spec?.containers[0]?.image?.at(-1)].join(' ')).toSorted();
    const isHalf = (pods: readonly Pod[]): boolean =>
      images(pods).join() === 'db-0 1,db-1 2' && pods.every(({ status }) => status?.phase === 'Running');
    await c.untilList(Pod, {}, isHalf);
    const half = await c.until(
      StatefulSet,
      key,
      ({ status }) => status?.updatedReplicas === 1 && status.readyReplicas === 2,
    );
    expect(half.status?.currentRevision).toBe(first.status?.currentRevision);
    expect(half.status?.updateRevision).not.toBe(first.status?.currentRevision);
    // A Pod below the partition is recreated with its old revision.
    const before = await c.admin.get(Pod, { namespace: c.namespace, name: 'db-0' });
    await c.admin.delete(Pod, keyOf(before));
    await c.until(Pod, { name: 'db-0' }, ({ metadata: now }) => now?.uid !== before.metadata?.uid);
    await c.untilList(Pod, {}, isHalf);
    const body = { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } };
    await c.admin.patch(StatefulSet, key, { type: 'merge', body });
    const done = await c.until(StatefulSet, key, ({ status }) => status?.currentRevision === status?.updateRevision);
    expect(done.status?.currentRevision).toBe(half.status?.updateRevision);
    const revisions = await c.admin.list(ControllerRevision, { namespace: c.namespace });
    expect(revisions.items.map(({ revision }) => revision).toSorted()).toEqual([1, 2]);
  });

  it.concurrent('deletes the revisions of a StatefulSet beyond its history limit', async () => {
    await using c = await open();
    // The annotation pauses operators; it means nothing to the controllers of a cluster.
    const metadata = { name: 'db', namespace: c.namespace, annotations: { 'bowline.dev/paused': 'true' } };
    const spec = { replicas: 1, revisionHistoryLimit: 0, serviceName: 'db', selector, template: podTemplate() };
    const key = keyOf(await c.admin.create(StatefulSet, { metadata, spec }));
    const first = await c.until(StatefulSet, key, ({ status }) => status?.readyReplicas === 1);
    await c.admin.patch(StatefulSet, key, { type: 'merge', body: image2 });
    const done = await c.until(
      StatefulSet,
      key,
      ({ status }) =>
        status?.currentRevision !== first.status?.currentRevision && status?.currentRevision === status?.updateRevision,
    );
    const [left] = await c.untilList(ControllerRevision, {}, (revisions) => revisions.length === 1);
    expect(left?.metadata?.name).toBe(done.status?.currentRevision);
  });

  it.concurrent('creates claims for every ordinal of a StatefulSet, and deletes them as its retention policy requires', async () => {
    await using c = await open();
    const storage = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };
    await c.admin.create(StatefulSet, {
      metadata: { name: 'db', namespace: c.namespace },
      spec: {
        replicas: 2,
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' },
        serviceName: 'db',
        selector,
        template: podTemplate(),
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: storage }],
      },
    });
    const pod = await c.until(Pod, { name: 'db-0' }, () => true);
    expect(pod.spec?.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } });
    const claim = await c.until(PersistentVolumeClaim, { name: 'data-db-0' }, () => true);
    expect(claim.metadata?.labels).toEqual({ app: 'web' });
    await c.until(PersistentVolumeClaim, { name: 'data-db-1' }, () => true);
    const set = { namespace: c.namespace, name: 'db' };
    await c.admin.patch(StatefulSet, set, { type: 'merge', body: { spec: { replicas: 1 } } });
    await c.untilGone(PersistentVolumeClaim, { name: 'data-db-1' });
    await c.admin.delete(StatefulSet, { namespace: c.namespace, name: 'db' });
    await c.untilGone(Pod, { name: 'db-0' });
    await c.admin.get(PersistentVolumeClaim, keyOf(claim));
    await c.admin.delete(PersistentVolumeClaim, keyOf(claim));
    await c.untilGone(PersistentVolumeClaim, { name: 'data-db-0' });
  });

  it.concurrent('runs a DaemonSet on every node that it tolerates, and updates it node by node', async () => {
    await using c = await open();
    const pool = c.uniqueName('pool');
    const taints = [{ key: 'example.test/only', value: pool, effect: 'NoSchedule' as const }];
    const labels = { pool };
    for (const name of [`${pool}-a`, `${pool}-b`]) await c.nodeAgent.nodes.add({ name, labels, taints });
    const template = podTemplate({
      nodeSelector: labels,
      tolerations: [{ key: 'example.test/only', value: pool, operator: 'Equal' as const }],
    });
    const metadata = { name: 'agent', namespace: c.namespace };
    const key = keyOf(
      await c.admin.create(DaemonSet, { metadata, spec: { selector, template, revisionHistoryLimit: 0 } }),
    );
    const isReadyEverywhere = ({ status, metadata: now }: DaemonSet): boolean =>
      status?.observedGeneration === now?.generation &&
      status?.numberAvailable === 2 &&
      status.updatedNumberScheduled === 2;
    const ready = await c.until(DaemonSet, key, isReadyEverywhere);
    expect(ready.status).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0 });
    await c.admin.patch(DaemonSet, key, { type: 'merge', body: image2 });
    await c.until(DaemonSet, key, isReadyEverywhere);
    const pods = await c.untilList(Pod, {}, (items) => items.length === 2);
    expect(pods.map(({ spec }) => [spec?.nodeName, spec?.containers[0]?.image]).toSorted()).toEqual([
      [`${pool}-a`, 'example.test/main:2'],
      [`${pool}-b`, 'example.test/main:2'],
    ]);
    await c.untilList(ControllerRevision, {}, (revisions) => revisions.length === 1);
    await c.admin.patch(DaemonSet, key, {
      type: 'merge',
      body: { spec: { template: { spec: { nodeSelector: { pool: 'none' } } } } },
    });
    await c.untilList(Pod, {}, (items) => items.length === 0);
    await c.admin.delete(DaemonSet, key);
  });

  it.concurrent('reports the status of workloads whose Pods are rejected, and the reason', async () => {
    await using c = await open();
    const metadata = { name: 'web', namespace: c.namespace };
    const refused = { serviceAccountName: 'missing', containers: [container] };
    const spec = { replicas: 1, selector, template: podTemplate(refused) };
    await c.admin.create(StatefulSet, { metadata, spec: { ...spec, serviceName: 'web' } });
    await c.admin.create(DaemonSet, { metadata, spec: { selector, template: podTemplate(refused) } });
    const template = { spec: { ...refused, restartPolicy: 'Never' as const } };
    await c.admin.create(Job, { metadata, spec: { template } });
    await c.admin.create(ReplicaSet, { metadata, spec });
    const isSeen = ({ status }: StatefulSet | DaemonSet): boolean => status?.observedGeneration === 1;
    await c.until(StatefulSet, metadata, isSeen);
    await c.until(DaemonSet, metadata, isSeen);
    await c.until(Job, metadata, ({ status }) => status?.startTime !== undefined);
    const { status } = await c.until(ReplicaSet, metadata, (set) => set.status?.conditions?.length === 1);
    expect(status?.conditions?.[0]).toMatchObject({
      type: 'ReplicaFailure',
      message: expect.stringMatching(/^pods "web-.*" is forbidden: /),
    });
    const failures = [
      'Error creating: pods "web-',
      'Create Pod web-0 in StatefulSet web failed error: pods "web-0" is',
    ];
    await c.untilList(Event, {}, (events) =>
      failures.every((text) => events.some(({ message }) => message?.startsWith(text))),
    );
  });

  it.concurrent('publishes the endpoints of a Service, and how many of its Pods may be evicted', async () => {
    await using c = await open();
    const ports = [{ name: 'http', containerPort: 8080 }];
    const template = podTemplate({ containers: [{ ...container, ports }] });
    await c.admin.create(Deployment, web(c, { replicas: 2, template }));
    const metadata = { name: 'web', namespace: c.namespace, labels: { team: 'blue' } };
    await c.admin.create(Service, {
      metadata,
      spec: { selector: { app: 'web' }, ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
    });
    const budget = { metadata: { name: 'web', namespace: c.namespace }, spec: { maxUnavailable: '50%', selector } };
    await c.admin.create(PodDisruptionBudget, budget);
    const isWhole = ([first]: readonly EndpointSlice[]): boolean => {
      const endpoints = endpointsOf(first);
      return endpoints.length === 2 && endpoints.every(({ conditions }) => conditions?.ready);
    };
    const [slice] = await c.untilList(EndpointSlice, {}, isWhole);
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'web', port: 8080, protocol: 'TCP' }],
      metadata: { labels: { 'kubernetes.io/service-name': 'web', team: 'blue' }, generateName: 'web-' },
    });
    const { items } = await c.admin.list(Pod, { namespace: c.namespace });
    const expected = items.map(({ metadata: pod, status, spec }) => [pod?.name, status?.podIP, spec?.nodeName]);
    const published = endpointsOf(slice).map(({ targetRef, addresses, nodeName }) => [
      targetRef?.name,
      addresses[0],
      nodeName,
    ]);
    expect(published.toSorted()).toEqual(expected.toSorted());
    const allowed = await c.until(
      PodDisruptionBudget,
      { name: 'web' },
      ({ status }) => status?.disruptionsAllowed === 1,
    );
    expect(allowed.status).toMatchObject({ currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 });

    await using _ = await c.nodeAgent.pods.notReady({ selector: 'app=web' });
    await c.untilList(EndpointSlice, {}, ([now]) => endpointsOf(now).every(({ conditions }) => !conditions?.ready));
    await c.until(PodDisruptionBudget, { name: 'web' }, ({ status }) => status?.disruptionsAllowed === 0);
    await c.admin.patch(
      Deployment,
      { namespace: c.namespace, name: 'web' },
      { type: 'merge', body: { spec: { replicas: 0 } } },
    );
    await c.untilList(EndpointSlice, {}, ([now]) => endpointsOf(now).length === 0);
    await c.untilList(Event, {}, (events) => events.some(({ reason }) => reason === 'NoPods'));
    await c.admin.delete(Service, { namespace: c.namespace, name: 'web' });
    await c.untilList(EndpointSlice, {}, (slices) => slices.length === 0);
  });
}

/** An empty list is returned as null, which the types do not cover. */
function endpointsOf(slice: EndpointSlice | undefined): EndpointSlice['endpoints'] {
  const endpoints: EndpointSlice['endpoints'] | null | undefined = slice?.endpoints;
  return endpoints ?? [];
}
