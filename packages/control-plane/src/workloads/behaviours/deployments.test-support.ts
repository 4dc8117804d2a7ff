import { Deployment, Event, keyOf, Node, Pod, ReplicaSet } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { container, type OpenCluster, podTemplate, selector, web } from './behaviour.test-support.ts';

/** deployments tests the expected behaviour of Deployments, ReplicaSets and the scheduler. */
export function deployments(open: OpenCluster): void {
  it.concurrent('rolls a Deployment from one template to the next and back', async () => {
    await using c = await open();
    const isDone = (revision: string) => (deployment: Deployment) => {
      const { metadata, status } = deployment;
      return (
        metadata?.annotations?.['deployment.kubernetes.io/revision'] === revision &&
        status?.observedGeneration === metadata.generation &&
        status?.updatedReplicas === 3 &&
        status.replicas === 3 &&
        status.availableReplicas === 3
      );
    };
    const key = keyOf(await c.admin.create(Deployment, web(c, { replicas: 3 })));
    const first = await c.until(Deployment, key, isDone('1'));
    expect(first.metadata?.generation).toBe(1);
    expect(first.status?.conditions?.map(({ type, reason }) => [type, reason]).toSorted()).toEqual([
      ['Available', 'MinimumReplicasAvailable'],
      ['Progressing', 'NewReplicaSetAvailable'],
    ]);
    const paint = (image: string) => ({
      type: 'merge' as const,
      body: { spec: { template: { spec: { containers: [{ ...container, image }] } } } },
    });
    await c.admin.patch(Deployment, key, paint('example.test/main:2'));
    await c.until(Deployment, key, isDone('2'));
    await c.admin.patch(Deployment, key, paint(container.image ?? ''));
    await c.until(Deployment, key, isDone('3'));
    const sets = await c.untilList(ReplicaSet, {}, (items) =>
      items.every(({ status, spec }) => (status?.replicas ?? 0) === spec?.replicas),
    );
    const seen = sets.map(({ spec, metadata }) => [
      spec?.replicas,
      metadata?.annotations?.['deployment.kubernetes.io/revision'],
      metadata?.annotations?.['deployment.kubernetes.io/revision-history'],
    ]);
    expect(seen.toSorted()).toEqual([
      [0, '2', undefined],
      [3, '3', '1'],
    ]);
    const pods = await c.untilList(Pod, {}, (items) => items.length === 3);
    for (const pod of pods) expect(pod.metadata?.labels?.['pod-template-hash']).toMatch(/^[a-z0-9]+$/);
  });

  it.concurrent('scales a Deployment up and down, and waits while it is paused', async () => {
    await using c = await open();
    const key = keyOf(await c.admin.create(Deployment, web(c, { replicas: 1 })));
    await c.until(Deployment, key, ({ status }) => status?.availableReplicas === 1);
    await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 4 } } });
    await c.until(Deployment, key, ({ status }) => status?.availableReplicas === 4);
    const containers = [{ ...container, image: 'example.test/main:2' }];
    const body = { spec: { paused: true, replicas: 2, template: { spec: { containers } } } };
    await c.admin.patch(Deployment, key, { type: 'merge', body });
    const paused = await c.until(Deployment, key, ({ status, metadata }) => {
      return status?.replicas === 2 && status.observedGeneration === metadata?.generation;
    });
    expect(paused.status?.updatedReplicas ?? 0).toBe(0);
    expect(paused.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('DeploymentPaused');
    await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { paused: false } } });
    await c.until(Deployment, key, ({ status }) => status?.updatedReplicas === 2 && status.replicas === 2);
  });

  it.concurrent('creates the first new Pod of a Recreate Deployment after the last old one is gone', async () => {
    await using c = await open();
    const key = keyOf(await c.admin.create(Deployment, web(c, { replicas: 2, strategy: { type: 'Recreate' } })));
    await c.until(Deployment, key, ({ status }) => status?.availableReplicas === 2);
    const containers = [{ ...container, image: 'example.test/main:2' }];
    await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { template: { spec: { containers } } } } });
    const mixtures: string[] = [];
    await c.untilList(Pod, {}, (pods) => {
      const running = pods.filter(({ status }) => status?.phase === 'Running');
      const images = new Set(running.map(({ spec }) => spec?.containers[0]?.image ?? ''));
      if (images.size > 1) mixtures.push([...images].join(' and '));
      return running.length === 2 && images.has('example.test/main:2');
    });
    expect(mixtures).toEqual([]);
  });

  it.concurrent('reports a rollout that exceeds its progress deadline', async () => {
    await using c = await open();
    const key = keyOf(await c.admin.create(Deployment, web(c, { replicas: 1, progressDeadlineSeconds: 1 })));
    await using _ = await c.nodeAgent.pods.crash({ selector: 'app=web' });
    await c.until(Deployment, key, ({ status }) => status?.observedGeneration !== undefined);
    const template = podTemplate({ nodeSelector: { no: 'where' } });
    await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { template } } });
    await c.until(
      Deployment,
      key,
      ({ status }) =>
        status?.conditions?.some(
          ({ type, status: is, reason }) =>
            type === 'Progressing' && is === 'False' && reason === 'ProgressDeadlineExceeded',
        ) ?? false,
    );
  });

  it.concurrent('adopts Pods that a ReplicaSet selects, and releases those that it no longer selects', async () => {
    await using c = await open();
    const labels = { app: 'web' };
    const metadata = { name: 'web', namespace: c.namespace };
    const set = await c.admin.create(ReplicaSet, {
      metadata,
      spec: { replicas: 1, selector, template: podTemplate() },
    });
    const [made] = await c.untilList(Pod, {}, (pods) => pods.length === 1);
    const name = made?.metadata?.name ?? '';
    const release = { metadata: { labels: { app: 'other' } } };
    await c.admin.patch(Pod, { namespace: c.namespace, name }, { type: 'merge', body: release });
    await c.until(Pod, { name }, (pod) => !pod.metadata?.ownerReferences?.length);
    await c.untilList(Pod, { labelSelector: 'app=web' }, (pods) => pods.length === 1);
    await c.admin.patch(Pod, { namespace: c.namespace, name }, { type: 'merge', body: { metadata: { labels } } });
    // Two Pods are one too many: the ReplicaSet adopts the Pod again, and deletes one of them.
    const left = await c.untilList(Pod, { labelSelector: 'app=web' }, (pods) => pods.length === 1);
    expect(left[0]?.metadata?.ownerReferences?.[0]?.uid).toBe(set.metadata?.uid);
  });

  it.concurrent('reports why a Pod cannot be scheduled, and schedules it when a node fits', async () => {
    await using c = await open();
    const label = c.uniqueName('pool');
    const key = { namespace: c.namespace, name: 'picky' };
    await c.admin.create(Deployment, web(c, { replicas: 1, template: podTemplate({ nodeSelector: { pool: label } }) }));
    const [pod] = await c.untilList(Pod, {}, ([first]) => first?.status?.conditions?.[0]?.status === 'False');
    expect(pod?.status?.conditions?.[0]).toMatchObject({ type: 'PodScheduled', reason: 'Unschedulable' });
    expect(pod?.status?.conditions?.[0]?.message).toMatch(
      /^0\/\d+ nodes are available: .*\d+ node\(s\) didn't match Pod's node affinity\/selector/,
    );
    await c.untilList(Event, {}, (events) => events.some(({ reason }) => reason === 'FailedScheduling'));
    const added = await c.nodeAgent.nodes.add({
      name: label,
      labels: { pool: label },
      taints: [{ key: 'example.test/only', effect: 'NoSchedule' }],
    });
    await c.until(Node, { name: label }, ({ status }) => status?.conditions !== undefined);
    const template = podTemplate({
      nodeSelector: { pool: label },
      tolerations: [{ key: 'example.test/only', operator: 'Exists' }],
    });
    await c.admin.patch(Deployment, { ...key, name: 'web' }, { type: 'merge', body: { spec: { template } } });
    const running = await c.untilList(Pod, {}, (pods) => pods.some(({ status }) => status?.phase === 'Running'));
    expect(running.find(({ status }) => status?.phase === 'Running')?.spec?.nodeName).toBe(label);
    await c.admin.delete(Deployment, { ...key, name: 'web' });
    await c.untilList(Pod, {}, (pods) => pods.length === 0);
    await added.release();
  });
}
