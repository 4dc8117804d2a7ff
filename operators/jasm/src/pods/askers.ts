import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import type { PodView } from './pod-view.ts';
import type { Workload } from './workload.ts';

/** AskingPod is a pod and its request for one Secret. */
export interface AskingPod {
  readonly pod: PodView;
  readonly request: SecretSyncRequest;
  /**
   * The instant at which this request was first observed: a pod's own timestamp has a resolution of seconds. Defaults
   * to long ago.
   */
  readonly noticedAt?: number;
  /** Whether the pod existed with this request when the process started. Defaults to false. */
  readonly isInitial?: boolean;
}

/** Asker is a workload that requests one Secret, with all its pods that name the Secret. */
export interface Asker {
  readonly workload: Workload;
  /** The request of its youngest pod: during a rollout, the new template decides. */
  readonly request: SecretSyncRequest;
  /** Its pods that request the Secret, youngest first. Pods that are being deleted are not included. */
  readonly pods: readonly AskingPod[];
  /**
   * Whether all its pods are being deleted. They may still use the Secret: nothing is read for them, and nothing is
   * removed.
   */
  readonly isLeaving: boolean;
  /** When the oldest of its pods was created. */
  readonly since: number;
}

/**
 * askersOf returns the workloads of the pods that request one Secret, the one with the oldest pod first. `held` is the
 * hash of the request that the Secret holds.
 */
export function askersOf(asking: readonly AskingPod[], held?: string): readonly Asker[] {
  const byWorkload = new Map<string, AskingPod[]>();
  for (const each of asking) {
    const { id } = each.pod.workload;
    const others = byWorkload.get(id);
    if (others) others.push(each);
    else byWorkload.set(id, [each]);
  }
  return [...byWorkload.values()].flatMap((pods) => askerOf(pods, held)).sort(byAge);
}

function askerOf(asking: readonly AskingPod[], held: string | undefined): readonly Asker[] {
  const all = asking.toSorted((a, b) => youngestFirst(a, b, held));
  const pods = all.filter(({ pod }) => !pod.isTerminating);
  const deciding = pods[0] ?? all[0];
  const oldest = all.at(-1);
  if (!deciding || !oldest) return [];
  return [
    {
      workload: deciding.pod.workload,
      request: deciding.request,
      pods,
      isLeaving: pods.length === 0,
      since: oldest.pod.createdAt,
    },
  ];
}

/**
 * Among pods created in the same second, the one observed last counts: a template may change that quickly. After a
 * restart that order is unknown, and the request that the Secret holds wins.
 */
function youngestFirst(a: AskingPod, b: AskingPod, held: string | undefined): number {
  const holds = ({ request }: AskingPod): number => (request.hash === held ? 1 : 0);
  return (
    b.pod.createdAt - a.pod.createdAt ||
    (b.noticedAt ?? 0) - (a.noticedAt ?? 0) ||
    holds(b) - holds(a) ||
    (a.pod.uid < b.pod.uid ? -1 : 1)
  );
}

function byAge(a: Asker, b: Asker): number {
  return a.since - b.since || (a.workload.id < b.workload.id ? -1 : 1);
}
