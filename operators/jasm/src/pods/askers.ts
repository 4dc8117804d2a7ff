import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import type { PodView } from './pod-view.ts';
import type { Workload } from './workload.ts';

/** AskingPod is a pod, and what it asks of one Secret. */
export interface AskingPod {
  readonly pod: PodView;
  readonly request: SecretSyncRequest;
  /** The instant at which it was first seen to ask that: a pod's own time has only seconds. Defaults to long ago. */
  readonly noticedAt?: number;
  /** It was there, and asked that, when the work began. Defaults to false. */
  readonly isInitial?: boolean;
}

/** Asker is a workload that asks for one Secret: all its pods that name it. */
export interface Asker {
  readonly workload: Workload;
  /** What its youngest pod asks: during a rollout, the new template decides. */
  readonly request: SecretSyncRequest;
  /** Its pods that ask, youngest first. Those that are being deleted ask for nothing any more. */
  readonly pods: readonly AskingPod[];
  /** All its pods are being deleted. They may still use what they have: nothing is read for them, and nothing taken away. */
  readonly isLeaving: boolean;
  /** When the oldest of its pods was made. */
  readonly since: number;
}

/**
 * askersOf are the workloads behind some pods that ask for one Secret, the one with the oldest pod first. `held` is the hash of the
 * request that the Secret holds.
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
 * Of pods made in the same second the one that was seen last counts: a template may change so soon. After a restart nobody knows
 * which that was; then what the Secret holds stays.
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
