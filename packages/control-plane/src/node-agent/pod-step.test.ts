import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { NodeBehaviour, PodBehaviour } from './behaviour.ts';
import { nextStep, type PodStep } from './pod-step.ts';

const main: Container = { name: 'main', image: 'example.test/main' };
const EARLY = '2026-01-01T00:00:00Z';
const LATE = '2026-01-01T00:01:00Z';

function podOf(spec: Partial<PodSpec> = {}, metadata: Pod['metadata'] = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'demo', uid: 'u1', generation: 1, ...metadata },
    spec: { nodeName: 'n', containers: [main], ...spec },
    status: { phase: 'Pending' },
  };
}

interface Steer {
  readonly behaviour?: PodBehaviour;
  readonly deletionHangs?: boolean;
  readonly node?: NodeBehaviour;
  readonly now?: string;
}

function stepOf(pod: Pod, { behaviour, deletionHangs = false, node = 'ready', now = EARLY }: Steer = {}): PodStep {
  return nextStep(pod, { behaviour, deletionHangs }, node, { now, hostIP: '10.0.0.1', podIP: '10.0.0.9' });
}

/** asServed returns a status as sent by a server, which writes null for times that were never set. */
function asServed(status: PodStatus): PodStatus {
  const served = JSON.parse(JSON.stringify(status)) as PodStatus;
  const conditions = (served.conditions ?? []).map((condition) => ({ lastProbeTime: null, ...condition }));
  // null is not in the type, only in the response.
  return { ...served, conditions: conditions as unknown as NonNullable<PodStatus['conditions']> };
}

/**
 * settle applies steps until there are none, as if reports were observed one after the other, and returns the statuses on the
 * way.
 */
function settle(pod: Pod, steer: Steer = {}): { pod: Pod; phases: (string | undefined)[]; last: PodStep } {
  let current = pod;
  const phases: (string | undefined)[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const step = stepOf(current, steer);
    if (step.do !== 'report') return { pod: current, phases, last: step };
    phases.push(step.status.phase);
    current = { ...current, status: asServed(step.status) };
  }
  throw new Error('the steps do not end');
}

const conditionsOf = (pod: Pod) =>
  Object.fromEntries((pod.status?.conditions ?? []).map(({ type, status }) => [type, status]));

const stateOf = (status: ContainerStatus | undefined): string =>
  status?.state?.waiting?.reason ??
  (status?.state?.running ? 'running' : `exit ${status?.state?.terminated?.exitCode}`);

const statesOf = (pod: Pod): readonly string[] =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(stateOf);

describe('a Pod without steering', () => {
  it('runs and is ready after one report, with the status of a kubelet', () => {
    const { pod, phases } = settle(podOf());
    expect(phases).toEqual(['Running']);
    expect(pod.status).toMatchObject({
      startTime: EARLY,
      hostIP: '10.0.0.1',
      podIP: '10.0.0.9',
      podIPs: [{ ip: '10.0.0.9' }],
      observedGeneration: 1,
      containerStatuses: [{ name: 'main', ready: true, started: true, restartCount: 0, imageID: '' }],
    });
    expect(conditionsOf(pod)).toEqual({
      PodReadyToStartContainers: 'True',
      Initialized: 'True',
      Ready: 'True',
      ContainersReady: 'True',
      PodScheduled: 'True',
    });
  });

  it.each(['Never', 'OnFailure'] as const)('runs first and then succeeds with restart policy %s', (restartPolicy) => {
    const { pod, phases, last } = settle(podOf({ restartPolicy }));
    expect(phases).toEqual(['Running', 'Succeeded']);
    expect(last).toEqual({ do: 'nothing' });
    expect(conditionsOf(pod)).toMatchObject({ Initialized: 'True', Ready: 'False', ContainersReady: 'False' });
  });

  it('completes init containers, keeps sidecars running, and terminates those with the Pod', () => {
    const initContainers: Container[] = [
      { ...main, name: 'setup' },
      { ...main, name: 'proxy', restartPolicy: 'Always' },
    ];
    const running = settle(podOf({ initContainers })).pod;
    expect(statesOf(running)).toEqual(['exit 0', 'running', 'running']);
    expect(running.status?.initContainerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
    const ended = settle(podOf({ initContainers, restartPolicy: 'Never' })).pod;
    expect(statesOf(ended)).toEqual(['exit 0', 'exit 0', 'exit 0']);
    expect(ended.status?.phase).toBe('Succeeded');
  });

  it('has the address of its node with hostNetwork', () => {
    expect(settle(podOf({ hostNetwork: true })).pod.status?.podIP).toBe('10.0.0.1');
  });

  it('is ready only when its readiness gates are true, and does not change those conditions', () => {
    const gated = podOf({ readinessGates: [{ conditionType: 'gate' }] });
    expect(conditionsOf(settle(gated).pod)).toMatchObject({ ContainersReady: 'True', Ready: 'False' });
    const open: Pod = { ...gated, status: { phase: 'Pending', conditions: [{ type: 'gate', status: 'True' }] } };
    expect(conditionsOf(settle(open).pod)).toMatchObject({ gate: 'True', Ready: 'True' });
  });

  it('does not set observedGeneration on servers without generations', () => {
    const { status } = settle(podOf({}, { generation: undefined })).pod;
    expect(JSON.stringify(status)).not.toContain('observedGeneration');
  });

  it('changes no time when it is reconciled later', () => {
    const { pod } = settle(podOf());
    expect(stepOf(pod, { now: LATE })).toEqual({ do: 'nothing' });
  });
});

describe('a steered Pod', () => {
  it('is held with the reason, without an address, and continues from there', () => {
    const held = settle(podOf(), { behaviour: { do: 'hold', reason: 'ImagePullBackOff' } }).pod;
    expect(held.status).toMatchObject({ phase: 'Pending', startTime: EARLY });
    expect(held.status?.podIP).toBeUndefined();
    expect(statesOf(held)).toEqual(['ImagePullBackOff']);
    expect(conditionsOf(held)).toMatchObject({ Initialized: 'True', Ready: 'False' });
    const released = settle(held, { now: LATE }).pod;
    expect(released.status).toMatchObject({ phase: 'Running', startTime: EARLY, podIP: '10.0.0.9' });
    expect(released.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe(LATE);
    expect(released.status?.conditions?.find(({ type }) => type === 'Initialized')?.lastTransitionTime).toBe(EARLY);
  });

  it('cannot be held once it runs', () => {
    const { pod } = settle(podOf());
    expect(stepOf(pod, { behaviour: { do: 'hold' } })).toEqual({ do: 'nothing' });
  });

  it('crashes, only increases the restart count, and adds one when it is released', () => {
    const { pod } = settle(podOf());
    const crashed = settle(pod, { behaviour: { do: 'crash', restartCount: 3 }, now: LATE }).pod;
    expect(crashed.status).toMatchObject({
      phase: 'Running',
      containerStatuses: [
        {
          restartCount: 3,
          lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: EARLY, finishedAt: LATE } },
        },
      ],
    });
    expect(statesOf(crashed)).toEqual(['CrashLoopBackOff']);
    expect(stepOf(crashed, { behaviour: { do: 'crash', restartCount: 2 } })).toEqual({ do: 'nothing' });
    const released = settle(crashed).pod.status?.containerStatuses?.[0];
    expect(released).toMatchObject({ ready: true, restartCount: 4, lastState: { terminated: { exitCode: 1 } } });
  });

  it('never is ready on the way to a crash', () => {
    expect(settle(podOf(), { behaviour: { do: 'crash' } }).phases).toEqual(['Running']);
    expect(conditionsOf(settle(podOf(), { behaviour: { do: 'crash' } }).pod)).toMatchObject({ Ready: 'False' });
  });

  it.each<[PodSpec['restartPolicy'], number, string, string]>([
    ['Always', 0, 'Running', 'CrashLoopBackOff'],
    ['Always', 2, 'Running', 'CrashLoopBackOff'],
    ['OnFailure', 0, 'Succeeded', 'exit 0'],
    ['OnFailure', 2, 'Running', 'CrashLoopBackOff'],
    ['Never', 0, 'Succeeded', 'exit 0'],
    ['Never', 2, 'Failed', 'exit 2'],
  ])('with restart policy %s that exits with %i becomes %s (%s)', (restartPolicy, exitCode, phase, state) => {
    const { pod } = settle(podOf({ restartPolicy }), { behaviour: { do: 'complete', exitCode } });
    expect(pod.status?.phase).toBe(phase);
    expect(statesOf(pod)).toEqual([state]);
  });

  it('does not restart containers that have ended permanently', () => {
    const spec = { restartPolicy: 'Never' as const, containers: [main, { ...main, name: 'other' }] };
    const half = settle(podOf(spec), { behaviour: { do: 'complete', containers: ['main'] } }).pod;
    expect(half.status?.phase).toBe('Running');
    expect(statesOf(settle(half, { behaviour: { do: 'run' } }).pod)).toEqual(['exit 0', 'running']);
  });

  it.each<[PodSpec['restartPolicy'], string, string]>([
    ['Always', 'Pending', 'CrashLoopBackOff'],
    ['Never', 'Failed', 'exit 1'],
  ])('whose init container crashes with restart policy %s is %s', (restartPolicy, phase, state) => {
    const spec = { restartPolicy, initContainers: [{ ...main, name: 'setup' }] };
    const { pod } = settle(podOf(spec), { behaviour: { do: 'crash', containers: ['setup'] } });
    expect(pod.status?.phase).toBe(phase);
    expect(statesOf(pod)).toEqual([state, 'PodInitializing']);
    expect(conditionsOf(pod)).toMatchObject({ Initialized: 'False', Ready: 'False' });
  });

  it('is not ready for the named containers', () => {
    const spec = { containers: [main, { ...main, name: 'other' }] };
    const { pod } = settle(podOf(spec), { behaviour: { do: 'not-ready', containers: ['other'] } });
    expect(pod.status?.containerStatuses?.map(({ ready }) => ready)).toEqual([true, false]);
    expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: 'not ready: other',
    });
  });

  it('is rejected when it fails before it ran, and terminated when it ran', () => {
    const fail = { behaviour: { do: 'fail', reason: 'NodeShutdown', exitCode: 9 } } as const;
    const rejected = settle(podOf(), fail).pod;
    expect(rejected.status).toMatchObject({ phase: 'Failed', reason: 'NodeShutdown' });
    expect(rejected.status?.containerStatuses).toBeUndefined();
    const ended = settle(settle(podOf()).pod, fail).pod;
    expect(ended.status).toMatchObject({ phase: 'Failed', reason: 'NodeShutdown', podIP: '10.0.0.9' });
    expect(statesOf(ended)).toEqual(['exit 9']);
  });

  it('stays failed after an eviction is released', () => {
    const { pod } = settle(settle(podOf()).pod, { behaviour: { do: 'evict' } });
    expect(pod.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
    expect(conditionsOf(pod)).toMatchObject({ DisruptionTarget: 'True', Ready: 'False' });
    expect(stepOf(pod)).toEqual({ do: 'nothing' });
  });
});

describe('a Pod that is being deleted', () => {
  const deleting = (extra: Pod['metadata'] = {}): Pod => {
    const { status } = settle(podOf()).pod;
    const metadata = { deletionTimestamp: LATE, deletionGracePeriodSeconds: 30, ...extra };
    return { ...podOf({}, metadata), status };
  };

  it('first reports how it ended, so that its owner can count it, then is deleted', () => {
    const { pod, phases, last } = settle(deleting(), { now: LATE });
    expect(phases).toEqual(['Failed']);
    expect(statesOf(pod)).toEqual(['exit 143']);
    expect(last).toEqual({ do: 'delete' });
  });

  it('is not deleted twice while finalizers hold it', () => {
    expect(settle(deleting({ deletionGracePeriodSeconds: 0, finalizers: ['x/y'] })).last).toEqual({ do: 'nothing' });
  });

  it('is not changed while its deletion hangs', () => {
    expect(stepOf(deleting(), { deletionHangs: true })).toEqual({ do: 'nothing' });
  });

  it('is not changed on a silent node, but is deleted from one that is not ready', () => {
    expect(stepOf(deleting(), { node: 'silent' })).toEqual({ do: 'nothing' });
    expect(settle(deleting(), { node: 'not-ready' }).last).toEqual({ do: 'delete' });
  });
});

it('does not change the Pods of a node that is not ready: the node controller reports them', () => {
  expect(stepOf(podOf(), { node: 'not-ready' })).toEqual({ do: 'nothing' });
});
