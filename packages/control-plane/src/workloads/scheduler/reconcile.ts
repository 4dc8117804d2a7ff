import { type KubernetesObject, keyOf, keyString, Namespace, Node, Pod, parseKey } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { keyed } from '@bowline/runtime';
import { isConflict, isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';
import { withConditions } from '../../node-agent/conditions.ts';
import { sameJson } from '../../node-agent/same-json.ts';
import { isFinished } from '../pods/pod-state.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { type NodeLoad, place } from './place.ts';

const NAME = 'default-scheduler';
/** The scheduler has its own field manager, even if it shares a process with other controllers. */
const WRITE = { fieldManager: 'kube-scheduler' };

// Keyed, because a Pod that is deleted has to be forgotten.
const sources = keyed('scheduler', { concurrency: 8 })
  .using<WorkloadDeps>()
  .watches(Pod, {
    indexes: { node: (pod: Pod) => (isFinished(pod) ? [] : [pod.spec?.nodeName ?? '']) },
    map: (pod, cache) => {
      if (!pod.spec?.nodeName) return [keyString(keyOf(pod))];
      const unscheduled = cache.list(Pod, { by: { node: '' } });
      const hasLeft = isFinished(pod) || pod.metadata?.deletionTimestamp !== undefined;
      // The end of a Pod may free capacity for others; its arrival may satisfy the affinity of others.
      const affected = hasLeft
        ? unscheduled
        : unscheduled.filter(({ spec }) => spec?.affinity?.podAffinity !== undefined);
      return [keyString(keyOf(pod)), ...schedulable(affected)];
    },
  })
  .watches(Namespace, { view: 'metadata', map: () => [] })
  .watches(Node, { map: (_, cache) => schedulable(cache.list(Pod, { by: { node: '' } })) });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** scheduler assigns a node to Pods that have none. */
export function scheduler(): Controller<WorkloadDeps> {
  const assumed = new AssumedPods();
  return sources.reconcile((context) => reconcile(context, assumed));
}

async function reconcile(context: Context, assumed: AssumedPods): Promise<void> {
  const { key, get } = context;
  const pod = get(Pod, parseKey(key));
  if (!pod || pod.spec?.nodeName || !isSchedulable(pod)) {
    assumed.forget(key);
    return;
  }
  const placement = place(pod, nodeLoads(context, assumed), (name) => get(Namespace, { name })?.metadata.labels);
  if ('problem' in placement) await reportUnschedulable(context, pod, placement.problem);
  else await bind(context, assumed, pod, placement.node);
}

/** nodeLoads returns every node with the Pods that are bound or assumed to be bound to it. */
function nodeLoads({ list }: Context, assumed: AssumedPods): readonly NodeLoad[] {
  return list(Node).map((node) => {
    const { name } = node.metadata;
    const bound = list(Pod, { by: { node: name } });
    const known = new Set<string | undefined>(bound.map(({ metadata }) => metadata.uid));
    return { node, pods: [...bound, ...assumed.on(name).filter(({ metadata }) => !known.has(metadata?.uid))] };
  });
}

async function reportUnschedulable({ live, clock, deps }: Context, pod: Pod, problem: string): Promise<void> {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: problem };
  const conditions = withConditions(pod.status?.conditions, [condition], formatTime(clock.now()));
  if (sameJson(conditions, pod.status?.conditions)) return;
  const body = { metadata: { resourceVersion: pod.metadata?.resourceVersion }, status: { conditions } };
  await live.patch(Pod, keyOf(pod), { type: 'merge', body }, { subresource: 'status', ...WRITE });
  const event = { type: 'Warning', reason: 'FailedScheduling', note: problem, action: 'Scheduling' } as const;
  deps.events.record(NAME, Pod, pod, event);
}

async function bind({ key, live, deps }: Context, assumed: AssumedPods, pod: Pod, node: string): Promise<void> {
  assumed.assume(key, pod, node);
  try {
    const metadata = { ...keyOf(pod), uid: pod.metadata?.uid };
    const binding = { kind: 'Binding', metadata, target: { apiVersion: 'v1', kind: 'Node', name: node } };
    await live.create<KubernetesObject>(Pod, binding, { subresource: 'binding', ...WRITE });
  } catch (error) {
    assumed.forget(key);
    // The Pod is gone, or has a node already: the watch will report it.
    if (isNotFound(error) || isConflict(error)) return;
    throw error;
  }
  const note = `Successfully assigned ${key} to ${node}`;
  deps.events.record(NAME, Pod, pod, { type: 'Normal', reason: 'Scheduled', note, action: 'Binding' });
}

function isSchedulable({ metadata, spec, status }: Pod): boolean {
  if (metadata?.deletionTimestamp !== undefined || (spec?.schedulingGates?.length ?? 0) > 0) return false;
  return (spec?.schedulerName ?? NAME) === NAME && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
}

function schedulable(pods: readonly Pod[]): readonly string[] {
  return pods.filter(isSchedulable).map((pod) => keyString(keyOf(pod)));
}

/**
 * AssumedPods holds the nodes of Pods that were bound but whose update has not arrived yet, so that no capacity is used
 * twice.
 */
class AssumedPods {
  readonly #nodes = new Map<string, { readonly pod: Pod; readonly node: string }>();

  assume(key: string, pod: Pod, node: string): void {
    this.#nodes.set(key, { pod, node });
  }

  forget(key: string): void {
    this.#nodes.delete(key);
  }

  on(node: string): readonly Pod[] {
    return [...this.#nodes.values()].filter((each) => each.node === node).map(({ pod }) => pod);
  }
}
