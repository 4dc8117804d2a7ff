import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@bowline/kubernetes';
import { withConditions } from './conditions.ts';

/** PodState holds the inputs of a Pod's conditions. */
export interface PodState {
  readonly phase: PodStatus['phase'];
  readonly isInitialized: boolean;
  /** The Pod is admitted to the node and has an address. */
  readonly hasSandbox: boolean;
  /** The containers that readiness depends on: main containers and sidecars. */
  readonly containers: readonly ContainerStatus[];
  readonly now: string;
}

type Judged = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const YES: Judged = { status: 'True' };

/** podConditions returns the conditions that a kubelet reports, and keeps those of others. */
export function podConditions(pod: Pod, state: PodState): readonly PodCondition[] {
  const previous = pod.status?.conditions;
  const generation = pod.metadata?.generation;
  const containersReady = judgeContainers(state);
  const judged: Readonly<Record<string, Judged>> = {
    PodReadyToStartContainers: state.hasSandbox ? YES : { status: 'False' },
    Initialized: judgeInitialized(state),
    Ready: containersReady.status === 'True' ? judgeGates(pod) : containersReady,
    ContainersReady: containersReady,
    // Normally set by the scheduler; a Pod created with a node name never passes it.
    ...(previous?.some(({ type }) => type === 'PodScheduled') ? {} : { PodScheduled: YES }),
  };
  const wanted = Object.entries(judged).map(([type, judgement]) => ({
    type,
    ...judgement,
    // Servers without generations of Pods do not know the field either.
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }));
  return withConditions(previous, wanted, state.now);
}

function judgeInitialized({ phase, isInitialized }: PodState): Judged {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  if (isInitialized) return YES;
  return { status: 'False', reason: 'ContainersNotInitialized', message: 'init containers have not completed' };
}

function judgeContainers({ phase, containers }: PodState): Judged {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return YES;
  return { status: 'False', reason: 'ContainersNotReady', message: `not ready: ${unready.join(', ')}` };
}

function judgeGates({ spec, status }: Pod): Judged {
  const closed = (spec?.readinessGates ?? [])
    .map(({ conditionType }) => conditionType)
    .filter((gate) => !status?.conditions?.some(({ type, status }) => type === gate && status === 'True'));
  if (closed.length === 0) return YES;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: `not True: ${closed.join(', ')}` };
}
