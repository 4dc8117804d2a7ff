import type { Container, ContainerStatus, EphemeralContainer, Pod, PodStatus } from '@bowline/kubernetes';
import { withConditions } from './conditions.ts';
import { goalsOf, isSidecar, type SteadyBehaviour } from './container-goals.ts';
import { type ContainerGoal, containerStatus } from './container-status.ts';
import { podConditions } from './pod-conditions.ts';

/** PodFacts holds the inputs of a status besides the Pod. */
export interface PodFacts {
  /** RFC 3339. */
  readonly now: string;
  /** The node's address. */
  readonly hostIP: string;
  /** The address for a Pod that has none yet. */
  readonly podIP: string;
}

/** isOver returns whether a Pod is in a terminal phase. */
export function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** activeStatus returns the status of a Pod whose containers wait, run or exit according to the behaviour. */
export function activeStatus(pod: Pod, behaviour: SteadyBehaviour, facts: PodFacts): PodStatus {
  const { spec, status = {} } = pod;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  const goals = goalsOf(pod, behaviour);
  const init = statuses(pod, initContainers, status.initContainerStatuses, goals.init, facts).map(withInitReadiness);
  const main = statuses(pod, containers, status.containerStatuses, goals.main, facts);
  const running = new Map(ephemeralContainers.map(({ name }) => [name, { is: 'running', ready: false } as const]));
  const ephemeral = statuses(pod, ephemeralContainers, status.ephemeralContainerStatuses, running, facts);
  const sidecars = new Set(initContainers.filter(isSidecar).map(({ name }) => name));

  const phase = phaseOf(pod, main, goals);
  const isHeld = behaviour.do === 'hold';
  const hasSandbox = !isHeld && phase !== 'Succeeded' && phase !== 'Failed';
  return {
    ...status,
    ...(isHeld ? {} : addresses(pod, facts)),
    ...common(pod, facts),
    phase,
    ...(init.length > 0 ? { initContainerStatuses: init } : {}),
    containerStatuses: main,
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: ephemeral } : {}),
    conditions: podConditions(pod, {
      phase,
      isInitialized: init.length === 0 || !goals.isBlocked,
      hasSandbox,
      containers: [...init.filter(({ name }) => sidecars.has(name)), ...main],
      now: facts.now,
    }),
  };
}

/** Ending describes why a Pod as a whole ended. */
export interface Ending {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The exit code of running containers. */
  readonly exitCode: number;
  /** The kubelet itself terminated the Pod to protect the node. */
  readonly isDisruption?: boolean | undefined;
}

/**
 * failedStatus returns the status of a Pod that was terminated as a whole: running containers have exited, others never start.
 */
export function failedStatus(pod: Pod, ending: Ending, facts: PodFacts): PodStatus {
  const { spec, status = {} } = pod;
  const { reason = status.reason, message = status.message, exitCode } = ending;
  const end = (
    containers: readonly (Container | EphemeralContainer)[] = [],
    previous: readonly ContainerStatus[] = [],
  ): readonly ContainerStatus[] =>
    previous.map((each) => {
      const container = containers.find(({ name }) => name === each.name);
      if (!container || !each.state?.running) return { ...each, ready: false };
      return containerStatus(factsOf(pod, container, facts), each, { is: 'exited', exitCode });
    });
  const init = status.initContainerStatuses && end(spec?.initContainers, status.initContainerStatuses);
  const main = status.containerStatuses && end(spec?.containers, status.containerStatuses);
  const ephemeral =
    status.ephemeralContainerStatuses && end(spec?.ephemeralContainers, status.ephemeralContainerStatuses);
  const conditions = podConditions(pod, {
    phase: 'Failed',
    isInitialized: status.phase === 'Running' || (spec?.initContainers ?? []).length === 0,
    hasSandbox: false,
    containers: main ?? [],
    now: facts.now,
  });
  const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message };
  return {
    ...status,
    ...common(pod, facts),
    phase: 'Failed',
    reason,
    message,
    initContainerStatuses: init,
    containerStatuses: main,
    ephemeralContainerStatuses: ephemeral,
    conditions: ending.isDisruption ? withConditions(conditions, [disrupted], facts.now) : conditions,
  };
}

function common({ metadata, status }: Pod, { now, hostIP }: PodFacts): Partial<PodStatus> {
  return {
    startTime: status?.startTime ?? now,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
}

function addresses({ spec, status }: Pod, { hostIP, podIP }: PodFacts): Partial<PodStatus> {
  const ip = status?.podIP ?? (spec?.hostNetwork ? hostIP : podIP);
  return { podIP: ip, podIPs: status?.podIPs ?? [{ ip }] };
}

function statuses(
  pod: Pod,
  containers: readonly (Container | EphemeralContainer)[],
  previous: readonly ContainerStatus[] | undefined,
  goals: ReadonlyMap<string, ContainerGoal>,
  facts: PodFacts,
): readonly ContainerStatus[] {
  return containers.map((container) => {
    const before = previous?.find(({ name }) => name === container.name);
    const goal = goals.get(container.name) ?? { is: 'waiting', reason: 'ContainerCreating' };
    return containerStatus(factsOf(pod, container, facts), before, goal);
  });
}

function factsOf(pod: Pod, container: Container | EphemeralContainer, { now }: PodFacts) {
  return { podUid: pod.metadata?.uid ?? '', name: container.name, image: container.image ?? '', now };
}

/** A completed init container counts as ready. */
function withInitReadiness(status: ContainerStatus): ContainerStatus {
  return status.state?.terminated?.exitCode === 0 ? { ...status, ready: true } : status;
}

function phaseOf(
  pod: Pod,
  main: readonly ContainerStatus[],
  goals: { readonly isBlocked: boolean; readonly initFailed: boolean },
): PodStatus['phase'] {
  if (goals.initFailed) return 'Failed';
  if (goals.isBlocked) return pod.status?.phase === 'Running' ? 'Running' : 'Pending';
  if (!main.every(({ state }) => state?.terminated)) return 'Running';
  return main.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}
