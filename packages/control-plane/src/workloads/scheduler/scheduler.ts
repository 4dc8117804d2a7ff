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
const FIELDS = { fieldManager: 'kube-scheduler' };

/**
 * Assumed holds the nodes of Pods that were bound but whose update has not arrived yet, so that no capacity is used
 * twice.
 */
class Assumed {
  readonly #nodes = new Map<string, { readonly pod: Pod; readonly node: string }>();

  put(key: string, pod: Pod, node: string): void {
    this.#nodes.set(key, { pod, node });
  }

  drop(key: string): void {
    this.#nodes.delete(key);
  }

  on(node: string): readonly Pod[] {
    return [...this.#nodes.values()].filter((each) => each.node === node).map(({ pod }) => pod);
  }
}

/** scheduler assigns a node to Pods that have none. */
export function scheduler(): Controller<WorkloadDeps> {
  const assumed = new Assumed();
  return keyed('scheduler', { concurrency: 8 })
    .using<WorkloadDeps>()
    .watches(Pod, {
      indexes: { node: (pod: Pod) => (isFinished(pod) ? [] : [pod.spec?.nodeName ?? '']) },
      map: (pod, cache) => {
        if (!pod.spec?.nodeName) return [keyString(keyOf(pod))];
        const others = cache.list(Pod, { by: { node: '' } });
        const hasLeft = isFinished(pod) || pod.metadata?.deletionTimestamp !== undefined;
        // The end of a Pod may free capacity for others; its arrival may satisfy the affinity of others.
        const concerned = hasLeft ? others : others.filter(({ spec }) => spec?.affinity?.podAffinity !== undefined);
        return [keyString(keyOf(pod)), ...waiting(concerned)];
      },
    })
    .watches(Namespace, { view: 'metadata', map: () => [] })
    .watches(Node, { map: (_, cache) => waiting(cache.list(Pod, { by: { node: '' } })) })
    .reconcile(async ({ key, get, list, live, clock, deps }) => {
      const { events } = deps;
      const pod = get(Pod, parseKey(key));
      if (!pod || pod.spec?.nodeName || !isOurs(pod)) {
        assumed.drop(key);
        return;
      }
      const loads = list(Node).map((node): NodeLoad => {
        const name = node.metadata?.name ?? '';
        const there = list(Pod, { by: { node: name } });
        const known = new Set<string | undefined>(there.map(({ metadata }) => metadata?.uid));
        return { node, pods: [...there, ...assumed.on(name).filter(({ metadata }) => !known.has(metadata?.uid))] };
      });
      const placement = place(pod, loads, (name) => get(Namespace, { name })?.metadata.labels);
      const object = keyOf(pod);
      if ('problem' in placement) {
        const wanted = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: placement.problem };
        const conditions = withConditions(pod.status?.conditions, [wanted], formatTime(clock.now()));
        if (sameJson(conditions, pod.status?.conditions)) return;
        const body = { metadata: { resourceVersion: pod.metadata?.resourceVersion }, status: { conditions } };
        await live.patch(Pod, object, { type: 'merge', body }, { subresource: 'status', ...FIELDS });
        const note = placement.problem;
        events.record(NAME, Pod, pod, { type: 'Warning', reason: 'FailedScheduling', note, action: 'Scheduling' });
        return;
      }
      const { node } = placement;
      assumed.put(key, pod, node);
      try {
        const metadata = { ...object, uid: pod.metadata?.uid };
        const binding = { kind: 'Binding', metadata, target: { apiVersion: 'v1', kind: 'Node', name: node } };
        await live.create<KubernetesObject>(Pod, binding, { subresource: 'binding', ...FIELDS });
      } catch (error) {
        assumed.drop(key);
        // The Pod is gone, or has a node already: the watch will report it.
        if (isNotFound(error) || isConflict(error)) return;
        throw error;
      }
      const note = `Successfully assigned ${key} to ${node}`;
      events.record(NAME, Pod, pod, { type: 'Normal', reason: 'Scheduled', note, action: 'Binding' });
    });
}

function isOurs({ metadata, spec, status }: Pod): boolean {
  if (metadata?.deletionTimestamp !== undefined || (spec?.schedulingGates?.length ?? 0) > 0) return false;
  return (spec?.schedulerName ?? NAME) === NAME && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
}

function waiting(pods: readonly Pod[]): readonly string[] {
  return pods.filter(isOurs).map((pod) => keyString(keyOf(pod)));
}
