import {
  type Container,
  Deployment,
  Lease,
  Node,
  Pod,
  type PodSpec,
  type PodStatus,
  ServiceAccount,
} from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { type Cluster, cluster } from '../testing/cluster.ts';
import { BEHAVIOUR_ANNOTATION } from './behaviour.ts';

const main: Container = { name: 'main', image: 'example.test/main:1' };
const labels = { app: 'web' };

/** create creates a Pod once its namespace has the account that every Pod needs. */
async function create(c: Cluster, name: string, spec: Partial<PodSpec> = {}, annotations = {}): Promise<void> {
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  const metadata = { name, namespace: c.namespace, labels, annotations };
  await c.admin.create(Pod, { metadata, spec: { containers: [main], ...spec } });
}

/** status waits until a Pod's status passes the test. */
async function status(c: Cluster, name: string, test: (status: PodStatus) => boolean): Promise<PodStatus> {
  const pod = await c.until(Pod, { name }, (object) => test(object.status ?? {}));
  return pod.status ?? {};
}

function condition({ conditions }: PodStatus, type: string): string | undefined {
  return conditions?.find((each) => each.type === type)?.status;
}

const isReady = (of: PodStatus): boolean => condition(of, 'Ready') === 'True';

it('holds Pods that do not exist yet until they are released', async () => {
  await using c = await cluster();
  const held = await c.nodeAgent.pods.hold({ selector: 'app=web' }, { reason: 'ImagePullBackOff' });
  await create(c, 'held');
  await create(c, 'other', {}, { [BEHAVIOUR_ANNOTATION]: 'run' });
  await status(c, 'other', isReady);
  const waiting = await status(c, 'held', ({ containerStatuses }) => containerStatuses !== undefined);
  expect(waiting).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } }],
  });
  expect(waiting.podIP).toBeUndefined();
  await held.release();
  expect(await status(c, 'held', isReady)).toMatchObject({
    phase: 'Running',
    containerStatuses: [{ restartCount: 0 }],
  });
});

it('crashes a container again and again, and restarts it when released', async () => {
  await using c = await cluster();
  const sidecar = { ...main, name: 'beside' };
  const crashing = await c.nodeAgent.pods.crash(
    { name: 'web' },
    { containers: ['main'], restartCount: 4, exitCode: 3 },
  );
  await create(c, 'web', { containers: [main, sidecar] });
  const crashed = await status(c, 'web', ({ phase }) => phase === 'Running');
  expect(crashed.containerStatuses).toMatchObject([
    {
      name: 'main',
      ready: false,
      restartCount: 4,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    },
    { name: 'beside', ready: true, restartCount: 0 },
  ]);
  expect(condition(crashed, 'Ready')).toBe('False');
  await crashing.release();
  expect((await status(c, 'web', isReady)).containerStatuses).toMatchObject([{ restartCount: 5 }, { restartCount: 0 }]);
});

it('makes running Pods not ready, so that a Deployment is no longer available, and ready again', async () => {
  await using c = await cluster();
  await c.admin.create(Deployment, {
    metadata: { name: 'web', namespace: c.namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [main] } } },
  });
  const available = (count: number | undefined) =>
    c.until(Deployment, { name: 'web' }, (deployment) => deployment.status?.availableReplicas === count);
  await available(1);
  const unready = await c.nodeAgent.pods.notReady();
  await available(undefined);
  await unready.release();
  await available(1);
});

it('fails, evicts and completes Pods permanently', async () => {
  await using c = await cluster();
  await create(c, 'rejected', {}, { [BEHAVIOUR_ANNOTATION]: '{"do":"fail","reason":"UnexpectedAdmissionError"}' });
  const rejected = await status(c, 'rejected', ({ phase }) => phase === 'Failed');
  expect(rejected).toMatchObject({ reason: 'UnexpectedAdmissionError' });
  expect(rejected.containerStatuses).toBeUndefined();

  for (const name of ['evicted', 'broken']) {
    await create(c, name, { restartPolicy: 'Never' }, { [BEHAVIOUR_ANNOTATION]: 'run' });
    await status(c, name, isReady);
  }
  await using evicting = await c.nodeAgent.pods.evict({ name: 'evicted' });
  const unsteered = { type: 'merge', body: { metadata: { annotations: { [BEHAVIOUR_ANNOTATION]: null } } } } as const;
  await c.admin.patch(Pod, { namespace: c.namespace, name: 'evicted' }, unsteered);
  const evicted = await status(c, 'evicted', ({ phase }) => phase === 'Failed');
  expect(evicted).toMatchObject({
    reason: 'Evicted',
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  });
  expect(condition(evicted, 'DisruptionTarget')).toBe('True');
  await evicting.release();

  const broken = { metadata: { annotations: { [BEHAVIOUR_ANNOTATION]: '{"do":"complete","exitCode":2}' } } };
  await c.admin.patch(Pod, { namespace: c.namespace, name: 'broken' }, { type: 'merge', body: broken });
  expect(await status(c, 'broken', ({ phase }) => phase === 'Failed')).toMatchObject({
    containerStatuses: [{ state: { terminated: { exitCode: 2 } } }],
  });
  // Reconciling an ended Pod again changes nothing.
  expect((await status(c, 'evicted', () => true)).phase).toBe('Failed');
});

it('keeps a Pod Terminating while its deletion hangs, then deletes it', async () => {
  await using c = await cluster();
  await create(c, 'web');
  await status(c, 'web', isReady);
  const hanging = await c.nodeAgent.pods.hangDeletion({ name: 'web' });
  await c.admin.delete(Pod, { namespace: c.namespace, name: 'web' });
  // The deletion of another Pod shows that the agent has been active.
  await create(c, 'other');
  await status(c, 'other', isReady);
  await c.admin.delete(Pod, { namespace: c.namespace, name: 'other' });
  await c.untilGone(Pod, { name: 'other' });
  const terminating = await c.admin.get(Pod, { namespace: c.namespace, name: 'web' });
  expect(terminating.metadata?.deletionTimestamp).toBeDefined();
  expect(isReady(terminating.status ?? {})).toBe(true);
  await hanging.release();
  await c.untilGone(Pod, { name: 'web' });
});

it('reports invalid steering in the status of the Pod', async () => {
  await using c = await cluster();
  await create(c, 'web', {}, { [BEHAVIOUR_ANNOTATION]: '{"do":"crash","containers":"main"}' });
  const { phase, containerStatuses } = await status(c, 'web', (of) => of.containerStatuses !== undefined);
  expect(phase).toBe('Pending');
  expect(containerStatuses?.[0]?.state?.waiting).toMatchObject({
    reason: 'InvalidSteering',
    message: expect.stringContaining('"containers" of "crash" must be a list of container names'),
  });
});

it('waits for readiness gates set by others, and does not change their conditions', async () => {
  await using c = await cluster();
  await create(c, 'web', { readinessGates: [{ conditionType: 'example.test/gate' }] });
  const closed = await status(c, 'web', (of) => condition(of, 'ContainersReady') === 'True');
  expect(condition(closed, 'Ready')).toBe('False');
  const body = { status: { conditions: [{ type: 'example.test/gate', status: 'True' }] } };
  await c.admin.patch(
    Pod,
    { namespace: c.namespace, name: 'web' },
    { type: 'strategic', body },
    { subresource: 'status' },
  );
  expect(condition(await status(c, 'web', isReady), 'example.test/gate')).toBe('True');
});

it('simulates a node added by a test: not ready, silent, and ready again', async () => {
  await using c = await cluster();
  const name = c.uniqueName('node');
  const taint = { key: 'test.bowline.dev/reserved', value: name, effect: 'NoSchedule' } as const;
  await c.nodeAgent.nodes.add({ name, taints: [taint], capacity: { 'example.test/device': '2' } });
  const until = (wanted: string) =>
    c.until(Node, { name }, (node) => {
      const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === wanted;
    });
  expect((await until('True')).status?.allocatable).toMatchObject({ 'example.test/device': '2', pods: '500' });
  const unready = await c.nodeAgent.nodes.notReady(name);
  await until('False');
  await unready.release();
  await until('True');

  const lease = { namespace: 'kube-node-lease', name };
  const beats = async (): Promise<string | undefined> => (await c.admin.get(Lease, lease)).spec?.renewTime;
  await vi.waitUntil(beats);
  await create(c, 'web', { nodeName: name, tolerations: [{ operator: 'Exists' }] });
  await status(c, 'web', isReady);
  const silent = await c.nodeAgent.nodes.silence(name);
  await c.admin.delete(Pod, { namespace: c.namespace, name: 'web' });
  // A dead node completes no deletion.
  await create(c, 'other');
  await status(c, 'other', isReady);
  expect((await c.admin.get(Pod, { namespace: c.namespace, name: 'web' })).metadata?.deletionTimestamp).toBeDefined();
  const last = await beats();
  await silent.release();
  await c.untilGone(Pod, { name: 'web' });
  await c.until(Lease, lease, ({ spec }) => spec?.renewTime !== last);
});
