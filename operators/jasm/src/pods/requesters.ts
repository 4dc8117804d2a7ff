import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import type { PodView } from './pod-view.ts';
import type { Workload } from './workload.ts';

/** RequestingPod is a pod and its request for one Secret. */
export interface RequestingPod {
  readonly pod: PodView;
  readonly request: SecretSyncRequest;
  /**
   * The instant at which this request was first observed: a pod's own timestamp has a resolution of seconds. Defaults
   * to long ago.
   */
  readonly observedAt?: number;
  /** Whether the pod existed with this request when the process started. Defaults to false. */
  readonly isInitial?: boolean;
}

/** Requester is a workload that requests one Secret, with all its pods that name the Secret. */
export interface Requester {
  readonly workload: Workload;
  /** The request of its youngest pod: during a rollout, the new template decides. */
  readonly request: SecretSyncRequest;
  /** Its pods that request the Secret, youngest first. Pods that are being deleted are not included. */
  readonly pods: readonly RequestingPod[];
  /**
   * Whether all its pods are being deleted. They may still use the Secret: nothing is read for them, and nothing is
   * removed.
   */
  readonly isShuttingDown: boolean;
  /** When the oldest of its pods was created. */
  readonly since: number;
}

/**
 * requestersOf returns the workloads of the pods that request one Secret, the one with the oldest pod first. `held` is
 * the hash of the request that the Secret holds.
 */
export function requestersOf(requestingPods: readonly RequestingPod[], held?: string): readonly Requester[] {
  const byWorkload = new Map<string, RequestingPod[]>();
  for (const each of requestingPods) {
    const { id } = each.pod.workload;
    const others = byWorkload.get(id);
    if (others) others.push(each);
    else byWorkload.set(id, [each]);
  }
  return [...byWorkload.values()].flatMap((pods) => requesterOf(pods, held)).sort(byAge);
}

function requesterOf(requestingPods: readonly RequestingPod[], held: string | undefined): readonly Requester[] {
  const all = requestingPods.toSorted((a, b) => youngestFirst(a, b, held));
  const pods = all.filter(({ pod }) => !pod.isTerminating);
  const deciding = pods[0] ?? all[0];
  const oldest = all.at(-1);
  if (!deciding || !oldest) return [];
  return [
    {
      workload: deciding.pod.workload,
      request: deciding.request,
      pods,
      isShuttingDown: pods.length === 0,
      since: oldest.pod.createdAt,
    },
  ];
}

/**
 * Among pods created in the same second, the one observed last counts: a template may change that quickly. After a
 * restart that order is unknown, and the request that the Secret holds wins.
 */
function youngestFirst(a: RequestingPod, b: RequestingPod, held: string | undefined): number {
  const holds = ({ request }: RequestingPod): number => (request.hash === held ? 1 : 0);
  return (
    b.pod.createdAt - a.pod.createdAt ||
    (b.observedAt ?? 0) - (a.observedAt ?? 0) ||
    holds(b) - holds(a) ||
    (a.pod.uid < b.pod.uid ? -1 : 1)
  );
}

function byAge(a: Requester, b: Requester): number {
  return a.since - b.since || (a.workload.id < b.workload.id ? -1 : 1);
}
