import { createHash } from 'node:crypto';
import type { ContainerState, ContainerStatus } from '@bowline/kubernetes';

/** ContainerGoal is the desired state of a container. */
export type ContainerGoal =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string | undefined }
  | { readonly is: 'running'; readonly ready: boolean }
  | { readonly is: 'exited'; readonly exitCode: number }
  /** It exited and will be restarted after a backoff. */
  | { readonly is: 'backing-off'; readonly exitCode: number; readonly restartCount?: number | undefined };

/** ContainerFacts holds the inputs of a status besides the state. */
export interface ContainerFacts {
  readonly podUid: string;
  readonly name: string;
  readonly image: string;
  /** RFC 3339. */
  readonly now: string;
}

const BACK_OFF = 'CrashLoopBackOff';

/**
 * containerStatus moves a container from its previous status to a goal. Times, ids and counts change only with the state, and
 * never go backwards.
 */
export function containerStatus(
  facts: ContainerFacts,
  previous: ContainerStatus | undefined,
  goal: ContainerGoal,
): ContainerStatus {
  switch (goal.is) {
    case 'waiting':
      return waiting(facts, previous, goal);
    case 'running':
      return running(facts, previous, goal.ready);
    case 'exited':
      return exited(facts, previous, goal.exitCode);
    case 'backing-off':
      return backingOff(facts, previous, goal);
  }
}

function base(facts: ContainerFacts, restartCount: number): ContainerStatus {
  // Nothing was pulled, so there is no imageID.
  return { name: facts.name, image: facts.image, imageID: '', ready: false, restartCount, lastState: {} };
}

function waiting(
  facts: ContainerFacts,
  previous: ContainerStatus | undefined,
  goal: { readonly reason: string; readonly message?: string | undefined },
): ContainerStatus {
  const { reason, message } = goal;
  return {
    ...base(facts, previous?.restartCount ?? 0),
    lastState: previous?.lastState ?? {},
    started: false,
    state: { waiting: message === undefined ? { reason } : { reason, message } },
  };
}

function running(facts: ContainerFacts, previous: ContainerStatus | undefined, ready: boolean): ContainerStatus {
  const state = previous?.state;
  if (previous && state?.running) return { ...previous, ready, started: true };
  const ended = state?.terminated;
  // Anything that ended before this start makes it a restart.
  const isRestart = ended !== undefined || state?.waiting?.reason === BACK_OFF;
  const restartCount = (previous?.restartCount ?? 0) + (isRestart ? 1 : 0);
  return {
    ...base(facts, restartCount),
    lastState: ended ? { terminated: ended } : (previous?.lastState ?? {}),
    ready,
    started: true,
    state: { running: { startedAt: facts.now } },
    containerID: containerId(facts, restartCount),
  };
}

function exited(facts: ContainerFacts, previous: ContainerStatus | undefined, exitCode: number): ContainerStatus {
  if (previous?.state?.terminated) return previous;
  const restartCount = previous?.restartCount ?? 0;
  return {
    ...base(facts, restartCount),
    lastState: previous?.lastState ?? {},
    started: false,
    state: terminated(facts, previous, exitCode, restartCount),
    containerID: containerId(facts, restartCount),
  };
}

function backingOff(
  facts: ContainerFacts,
  previous: ContainerStatus | undefined,
  goal: { readonly exitCode: number; readonly restartCount?: number | undefined },
): ContainerStatus {
  const before = previous?.restartCount ?? 0;
  const requested = goal.restartCount ?? 0;
  const isCurrent = previous?.state?.waiting?.reason === BACK_OFF;
  const restartCount = Math.max(requested, isCurrent ? before : before + 1);
  return {
    ...base(facts, restartCount),
    lastState:
      isCurrent && restartCount === before
        ? previous.lastState
        : (previous?.state?.terminated && { terminated: previous.state.terminated }) ||
          terminated(facts, previous, goal.exitCode, restartCount),
    started: false,
    state: {
      waiting: {
        reason: BACK_OFF,
        message: `container ${facts.name} exits with ${goal.exitCode} whenever it is started`,
      },
    },
    containerID: containerId(facts, restartCount),
  };
}

function terminated(
  facts: ContainerFacts,
  previous: ContainerStatus | undefined,
  exitCode: number,
  restartCount: number,
): ContainerState {
  return {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: previous?.state?.running?.startedAt ?? facts.now,
      finishedAt: facts.now,
      containerID: containerId(facts, restartCount),
    },
  };
}

/** An id that comes from no runtime but is unique per start of a container and deterministic. */
function containerId({ podUid, name }: ContainerFacts, restartCount: number): string {
  return `bowline://${createHash('sha256').update(`${podUid}/${name}/${restartCount}`).digest('hex')}`;
}
