import type { Pod, PodStatus } from '@bowline/kubernetes';
import type { NodeBehaviour, PodBehaviour } from './behaviour.ts';
import type { SteadyBehaviour } from './container-goals.ts';
import { activeStatus, failedStatus, isOver, type PodFacts } from './pod-status.ts';
import { sameJson } from './same-json.ts';
import type { PodSteering } from './steering.ts';

/** PodStep is the one action that a kubelet would take on a Pod now; the next step follows from the resulting change. */
export type PodStep =
  | { readonly do: 'nothing' }
  | { readonly do: 'report'; readonly status: PodStatus }
  | { readonly do: 'delete' };

/** The exit code of a process terminated by SIGTERM. */
const SIGTERM_EXIT = 143;
const SIGKILL_EXIT = 137;

const NOTHING: PodStep = { do: 'nothing' };

/** nextStep decides, from the cluster state alone, which step to take for a Pod on one of the agent's nodes. */
export function nextStep(pod: Pod, steering: PodSteering, node: NodeBehaviour, facts: PodFacts): PodStep {
  if (node === 'silent') return NOTHING;
  if (pod.metadata?.deletionTimestamp !== undefined && !steering.deletionHangs) return deletionStep(pod, facts);
  if (isOver(pod)) return NOTHING;
  // The node controller reports the Pods of such a node as not ready; do not write against it.
  if (node === 'not-ready') return NOTHING;
  return report(pod, statusFor(pod, steering.behaviour, facts));
}

function deletionStep(pod: Pod, facts: PodFacts): PodStep {
  // Owners that need the outcome of a Pod, such as Jobs, must see it before the Pod is deleted.
  if (!isOver(pod)) return report(pod, failedStatus(pod, { exitCode: SIGTERM_EXIT }, facts));
  // With a grace period of zero the kubelet's part is done; finalizers hold the object.
  return pod.metadata?.deletionGracePeriodSeconds === 0 ? NOTHING : { do: 'delete' };
}

function statusFor(pod: Pod, behaviour: PodBehaviour | undefined, facts: PodFacts): PodStatus {
  switch (behaviour?.do) {
    case 'fail': {
      const { reason, message, exitCode = 1 } = behaviour;
      return failedStatus(pod, { reason, message, exitCode }, facts);
    }
    case 'evict': {
      const message = behaviour.message ?? 'The node was low on resource: memory.';
      return failedStatus(pod, { reason: 'Evicted', message, exitCode: SIGKILL_EXIT, isDisruption: true }, facts);
    }
    case 'hang-deletion':
    case undefined:
      return activeStatus(pod, step(pod, byItself(pod)), facts);
    case 'run':
    case 'hold':
    case 'not-ready':
    case 'crash':
    case 'complete':
      return activeStatus(pod, step(pod, behaviour), facts);
  }
}

/** A Pod that is not always restarted is expected to complete. */
function byItself(pod: Pod): SteadyBehaviour {
  return (pod.spec?.restartPolicy ?? 'Always') === 'Always' ? { do: 'run' } : { do: 'complete' };
}

/** A Pod must run before it can complete, and a running Pod cannot be held any more. */
function step(pod: Pod, behaviour: SteadyBehaviour): SteadyBehaviour {
  const isRunning = pod.status?.phase === 'Running';
  if (behaviour.do === 'hold' && isRunning) return { do: 'run' };
  if (behaviour.do === 'complete' && !isRunning) return { do: 'run' };
  return behaviour;
}

function report(pod: Pod, status: PodStatus): PodStep {
  return sameJson(pod.status ?? {}, status) ? NOTHING : { do: 'report', status };
}
