import type { Container, ContainerStatus, Pod } from '@bowline/kubernetes';
import type { PodBehaviour } from './behaviour.ts';
import type { ContainerGoal } from './container-status.ts';

/** PodGoals holds the desired states of a Pod's containers, by name. */
export interface PodGoals {
  readonly init: ReadonlyMap<string, ContainerGoal>;
  readonly main: ReadonlyMap<string, ContainerGoal>;
  /** An init container has not completed, so the main containers wait. */
  readonly isBlocked: boolean;
  /** An init container exited permanently with a non-zero code. */
  readonly initFailed: boolean;
}

type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** SteadyBehaviour is a behaviour of containers; the others concern the Pod as a whole. */
export type SteadyBehaviour = Exclude<PodBehaviour, { readonly do: 'fail' | 'evict' | 'hang-deletion' }>;

/** isSidecar returns whether an init container runs alongside the main ones. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** goalsOf returns the desired state of each container, in the order in which a kubelet starts them. */
export function goalsOf(pod: Pod, behaviour: SteadyBehaviour): PodGoals {
  const { initContainers = [], containers = [], restartPolicy = 'Always' } = pod.spec ?? {};
  const before = new Map(
    [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map((s) => [s.name, s]),
  );
  const init = new Map<string, ContainerGoal>();
  let isBlocked = false;
  let initFailed = false;
  for (const container of initContainers) {
    const goal = isBlocked
      ? { is: 'waiting' as const, reason: 'PodInitializing' }
      : initGoal(container, behaviour, restartPolicy, before.get(container.name));
    init.set(container.name, goal);
    if (goal.is === 'waiting' || goal.is === 'backing-off') isBlocked = true;
    if (goal.is === 'exited' && goal.exitCode !== 0) {
      isBlocked = true;
      initFailed = true;
    }
  }
  const main = new Map<string, ContainerGoal>();
  for (const container of containers) {
    main.set(
      container.name,
      isBlocked
        ? { is: 'waiting', reason: 'PodInitializing' }
        : mainGoal(container, behaviour, restartPolicy, before.get(container.name)),
    );
  }
  if (behaviour.do === 'hold') isBlocked = true;
  endSidecars(initContainers, init, main);
  return { init, main, isBlocked, initFailed };
}

function initGoal(
  container: Container,
  behaviour: SteadyBehaviour,
  policy: RestartPolicy,
  before: ContainerStatus | undefined,
): ContainerGoal {
  const isNamed = 'containers' in behaviour && (behaviour.containers ?? []).includes(container.name);
  if (behaviour.do === 'hold') return held(behaviour);
  if (behaviour.do === 'crash' && isNamed) {
    const { exitCode = 1, restartCount } = behaviour;
    return isSidecar(container)
      ? { is: 'backing-off', exitCode, restartCount }
      : afterExit(exitCode, policy, restartCount);
  }
  if (isSidecar(container)) return { is: 'running', ready: !(behaviour.do === 'not-ready' && isNamed) };
  return { is: 'exited', exitCode: before?.state?.terminated?.exitCode ?? 0 };
}

function mainGoal(
  container: Container,
  behaviour: SteadyBehaviour,
  policy: RestartPolicy,
  before: ContainerStatus | undefined,
): ContainerGoal {
  const ended = before?.state?.terminated;
  // A container that has exited permanently is not started again, whatever steers it now.
  if (ended && afterExit(ended.exitCode, policy).is === 'exited') return { is: 'exited', exitCode: ended.exitCode };
  const isMeant = !('containers' in behaviour) || (behaviour.containers?.includes(container.name) ?? true);
  switch (behaviour.do) {
    case 'hold':
      return held(behaviour);
    case 'run':
      return { is: 'running', ready: true };
    case 'not-ready':
      return { is: 'running', ready: !isMeant };
    case 'crash':
      return isMeant
        ? afterExit(behaviour.exitCode ?? 1, policy, behaviour.restartCount)
        : { is: 'running', ready: true };
    case 'complete':
      return isMeant ? afterExit(behaviour.exitCode ?? 0, policy) : { is: 'running', ready: true };
  }
}

function held(behaviour: { readonly reason?: string | undefined; readonly message?: string | undefined }) {
  const { reason = 'ContainerCreating', message } = behaviour;
  return { is: 'waiting', reason, message } as const;
}

/** afterExit returns the state that follows an exit according to the restart policy. */
function afterExit(exitCode: number, policy: RestartPolicy, restartCount?: number): ContainerGoal {
  const staysDown = policy === 'Never' || (policy === 'OnFailure' && exitCode === 0);
  return staysDown ? { is: 'exited', exitCode } : { is: 'backing-off', exitCode, restartCount };
}

/** Sidecars are terminated once the main containers have ended. */
function endSidecars(
  containers: readonly Container[],
  init: Map<string, ContainerGoal>,
  main: ReadonlyMap<string, ContainerGoal>,
): void {
  if (![...main.values()].every((goal) => goal.is === 'exited')) return;
  for (const container of containers) {
    if (isSidecar(container)) init.set(container.name, { is: 'exited', exitCode: 0 });
  }
}
