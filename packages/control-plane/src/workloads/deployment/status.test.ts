import type { Deployment, ReplicaSet } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { NOW } from '../pods/pod.test-support.ts';
import { type DeploymentFacts, deploymentStatus, untilDeadlineMs } from './status.ts';

const selector = {};
const template = {};

function rollingOut(reason: string, agoMs: number): Deployment {
  const at = formatTime(NOW - agoMs);
  const progress = { type: 'Progressing', status: 'True', reason, lastUpdateTime: at, lastTransitionTime: at };
  return {
    metadata: { name: 'web', generation: 2 },
    spec: { replicas: 2, progressDeadlineSeconds: 60, selector, template },
    status: { replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [progress] },
  };
}

function facts(ready: number): DeploymentFacts {
  const status = { replicas: ready, readyReplicas: ready, availableReplicas: ready };
  const newest: ReplicaSet = { metadata: { name: 'web-new' }, spec: { replicas: 2, selector, template }, status };
  const old: ReplicaSet = {
    metadata: { name: 'web-old' },
    spec: { replicas: 2 - ready, selector, template },
    status: { replicas: 2 - ready },
  };
  return { newest, all: ready === 2 ? [newest] : [newest, old], now: NOW, isRollout: true };
}

const progressOf = (deployment: Deployment, ready: number) =>
  deploymentStatus(deployment, facts(ready)).conditions?.find(({ type }) => type === 'Progressing');

it('updates the time of the last progress only when there was progress', () => {
  const waiting = rollingOut('ReplicaSetUpdated', 10_000);
  expect(progressOf(waiting, 1)).toEqual(waiting.status?.conditions?.[0]);
  const { status: _, ...fresh } = waiting;
  expect(progressOf({ ...fresh, status: { ...waiting.status, updatedReplicas: 0 } }, 1)).toMatchObject({
    reason: 'ReplicaSetUpdated',
    lastUpdateTime: formatTime(NOW),
    lastTransitionTime: formatTime(NOW - 10_000),
  });
});

it('reports a rollout that exceeds its deadline, and returns how long until then', () => {
  expect(untilDeadlineMs(rollingOut('ReplicaSetUpdated', 10_000), NOW)).toBe(51_000);
  expect(progressOf(rollingOut('ReplicaSetUpdated', 61_000), 1)).toMatchObject({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: 'ReplicaSet "web-new" has timed out progressing.',
  });
});

it('is complete when all Pods run the new template', () => {
  const done = progressOf(rollingOut('ReplicaSetUpdated', 10_000), 2);
  expect(done).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
  expect(untilDeadlineMs(rollingOut('NewReplicaSetAvailable', 100_000), NOW)).toBeUndefined();
});
