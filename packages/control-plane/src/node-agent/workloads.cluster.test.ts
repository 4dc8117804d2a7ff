import {
  type Container,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Node,
  Pod,
  type PodSpec,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { type Cluster, cluster } from '../testing/cluster.ts';
import { AGENT_LABEL } from './behaviour.ts';

const labels = { app: 'web' };
const main: Container = { name: 'main', image: 'example.test/main:1' };

function template(spec: Partial<PodSpec> = {}) {
  return { metadata: { labels }, spec: { containers: [main], terminationGracePeriodSeconds: 2, ...spec } };
}

/** named returns a key in the cluster's namespace. */
function named(c: Cluster, name = 'web') {
  return { metadata: { name, namespace: c.namespace } };
}

it('makes a Deployment available, with distinct addresses', async () => {
  await using c = await cluster();
  await c.admin.create(Deployment, {
    ...named(c),
    spec: { replicas: 3, selector: { matchLabels: labels }, template: template() },
  });
  await c.until(Deployment, { name: 'web' }, ({ status }) => status?.availableReplicas === 3);
  const { items } = await c.admin.list(Pod, { namespace: c.namespace });
  expect(new Set(items.map(({ status }) => status?.podIP)).size).toBe(3);
  for (const { status, spec } of items) {
    const node = await c.admin.get(Node, { name: spec?.nodeName ?? '' });
    expect(node.status?.addresses).toContainEqual({ type: 'InternalIP', address: status?.hostIP });
  }
});

it('runs a DaemonSet on every node', async () => {
  await using c = await cluster();
  await c.admin.create(DaemonSet, {
    ...named(c),
    spec: {
      selector: { matchLabels: labels },
      template: template({ nodeSelector: { [AGENT_LABEL]: 'bowline' } }),
    },
  });
  const { status } = await c.until(
    DaemonSet,
    { name: 'web' },
    (set) => (set.status?.numberReady ?? 0) >= 2 && set.status?.numberReady === set.status?.desiredNumberScheduled,
  );
  expect(status?.numberAvailable).toBe(status?.numberReady);
});

it.each(['Never', 'OnFailure'] as const)('completes a Job whose Pods have restart policy %s', async (restartPolicy) => {
  await using c = await cluster();
  const sidecar: Container = { ...main, name: 'proxy', restartPolicy: 'Always' };
  await c.admin.create(Job, {
    ...named(c),
    spec: { completions: 2, template: template({ restartPolicy, initContainers: [sidecar] }) },
  });
  const job = await c.until(Job, { name: 'web' }, ({ status }) => status?.completionTime !== undefined);
  expect(job.status).toMatchObject({ succeeded: 2 });
  const { items } = await c.admin.list(Pod, { namespace: c.namespace });
  expect(items.map(({ status }) => status?.phase)).toEqual(['Succeeded', 'Succeeded']);
  for (const { status } of items) {
    const ended = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    expect(ended.map(({ state }) => state?.terminated?.exitCode)).toEqual([0, 0]);
  }
});

it('rolls a StatefulSet from one image to the next, Pod by Pod', async () => {
  await using c = await cluster();
  const spec = { replicas: 2, serviceName: 'web', selector: { matchLabels: labels } };
  await c.admin.create(StatefulSet, { ...named(c), spec: { ...spec, template: template() } });
  await c.until(StatefulSet, { name: 'web' }, ({ status }) => status?.readyReplicas === 2);
  const containers = [{ ...main, image: 'example.test/main:2' }];
  const { metadata } = await c.admin.patch(
    StatefulSet,
    { namespace: c.namespace, name: 'web' },
    { type: 'merge', body: { spec: { template: { spec: { containers } } } } },
  );
  await c.until(StatefulSet, { name: 'web' }, ({ status }) => {
    const isSeen = status?.observedGeneration === metadata?.generation;
    return isSeen && status?.updatedReplicas === 2 && status.readyReplicas === 2;
  });
  const { items } = await c.admin.list(Pod, { namespace: c.namespace });
  const images = items.map((pod) => pod.status?.containerStatuses?.[0]?.image);
  expect(images).toEqual(['example.test/main:2', 'example.test/main:2']);
});

it('serves the logs of a container that was not executed', async () => {
  await using c = await cluster();
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  await c.admin.create(Pod, { ...named(c), spec: template().spec });
  await c.until(Pod, { name: 'web' }, ({ status }) => status?.phase === 'Running');
  const log = await c.admin.raw(`/api/v1/namespaces/${c.namespace}/pods/web/log`, { accept: '*/*' });
  expect(log).toBe(`[node agent] container main of pod ${c.namespace}/web is not executed, so it has no output\n`);
});

it('allows a namespace with running Pods to be deleted', async () => {
  await using c = await cluster();
  const name = await c.createNamespace('going');
  await c.until(ServiceAccount, { namespace: name, name: 'default' }, () => true);
  await c.admin.create(Deployment, {
    metadata: { name: 'web', namespace: name },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: template() },
  });
  await c.until(Deployment, { namespace: name, name: 'web' }, ({ status }) => status?.availableReplicas === 2);
  await c.admin.delete(Namespace, { name });
  await c.untilGone(Namespace, { name }, { timeoutMs: 90_000 });
});
