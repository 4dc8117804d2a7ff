import type { DaemonSet, Node, Pod } from '@bowline/kubernetes';
import { resolveIntOrPercent } from '../pods/int-or-percent.ts';
import { byAge, isAvailable, isFinished } from '../pods/pod-state.ts';
import { isUpdated, nodeOf, placementOn } from './daemon-pods.ts';

/** DaemonSteps holds the next steps for a DaemonSet. */
export interface DaemonSteps {
  /** Nodes that lack a Pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}

/** DaemonFacts holds the state that the next steps are computed from. */
export interface DaemonFacts {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly hash: string;
  readonly now: number;
}

/** FAILED_POD_DELAY_MS is the minimum age of a finished Pod before it is replaced. */
export const FAILED_POD_DELAY_MS = 1_000;

/** NodePods holds the Pods of one node, without those being deleted. */
interface NodePods {
  readonly name: string;
  readonly shouldRun: boolean;
  readonly kept: readonly Pod[];
  readonly hasEndingPod: boolean;
}

/** nextSteps returns the next steps for a DaemonSet: create missing Pods, remove unwanted ones, then update. */
export function nextSteps(set: DaemonSet, facts: DaemonFacts): DaemonSteps {
  const { pods, nodes } = facts;
  const create: string[] = [];
  const remove: Pod[] = [];
  const places: NodePods[] = [];
  const known = new Set<string>();
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    known.add(name);
    const { shouldRun, shouldContinueRunning } = placementOn(set, node);
    const here = pods.filter((pod) => nodeOf(pod) === name);
    const kept = here.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    // A daemon that always fails is restarted once a second, and not in a hot loop.
    const finished = kept.filter((pod) => isFinished(pod) && ageMs(pod, facts.now) >= FAILED_POD_DELAY_MS);
    const running = kept.filter((pod) => !isFinished(pod)).toSorted(byAge);
    remove.push(...finished);
    if (!shouldContinueRunning) remove.push(...running);
    else if (shouldRun && here.length === 0) create.push(name);
    if (shouldContinueRunning)
      places.push({ name, shouldRun, kept: running, hasEndingPod: running.length < here.length });
  }
  remove.push(...pods.filter((pod) => hasLostNode(pod, known)));
  const update = updateSteps(set, places, create.length, facts);
  return { create: [...create, ...update.create], remove: [...remove, ...update.remove] };
}

/** An adopted Pod may target no specific node: it has lost none. */
function hasLostNode(pod: Pod, known: ReadonlySet<string>): boolean {
  const node = nodeOf(pod);
  return node !== '' && !known.has(node) && pod.metadata?.deletionTimestamp === undefined;
}

function updateSteps(set: DaemonSet, places: readonly NodePods[], missing: number, facts: DaemonFacts): DaemonSteps {
  const strategy = set.spec?.updateStrategy;
  const wanted = places.filter(({ shouldRun }) => shouldRun).length;
  const maxSurge = resolveIntOrPercent(strategy?.rollingUpdate?.maxSurge ?? 0, wanted, 'up');
  const maxUnavailable = Math.max(
    resolveIntOrPercent(strategy?.rollingUpdate?.maxUnavailable ?? 1, wanted, 'up'),
    maxSurge === 0 ? 1 : 0,
  );
  const isNew = (pod: Pod): boolean => isUpdated(pod, set, facts.hash);
  const isPodAvailable = (pod: Pod): boolean => isAvailable(pod, set.spec?.minReadySeconds, facts.now);
  const create: string[] = [];
  const remove: Pod[] = [];
  let unavailable = missing;
  let surging = 0;
  const replaceable: Pod[] = [];
  const growing: string[] = [];
  for (const { name, kept, hasEndingPod } of places) {
    const [newest, ...moreNew] = kept.filter(isNew);
    const [oldest, ...moreOld] = kept.filter((pod) => !isNew(pod));
    remove.push(...moreNew, ...moreOld);
    if (oldest && newest) {
      // Only a surge has both: the old Pod is removed when the new one is available.
      if (isPodAvailable(newest) || !isPodAvailable(oldest)) remove.push(oldest);
      else surging++;
    } else if (oldest && strategy?.type !== 'OnDelete') {
      if (!isPodAvailable(oldest)) {
        unavailable++;
        remove.push(oldest);
      } else if (maxSurge > 0) growing.push(name);
      else replaceable.push(oldest);
    } else if ((newest && !isPodAvailable(newest)) || (!newest && !oldest && hasEndingPod)) unavailable++;
  }
  if (strategy?.type === 'OnDelete') return { create: [], remove };
  create.push(...growing.slice(0, Math.max(0, maxSurge - surging)));
  remove.push(...replaceable.slice(0, Math.max(0, maxUnavailable - unavailable)));
  return { create, remove };
}

function ageMs({ metadata }: Pod, now: number): number {
  return now - Date.parse(metadata?.creationTimestamp ?? '');
}
