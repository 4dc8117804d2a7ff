import {
  type KubernetesObject,
  keyOf,
  keyString,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  parseKey,
  StorageClass,
} from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { keyed, type ReconcileResult } from '@bowline/runtime';
import { isConflict, isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';
import { withConditions } from '../../node-agent/conditions.ts';
import { sameJson } from '../../node-agent/same-json.ts';
import { claimKeysOf, podClaims } from '../pods/pod-claims.ts';
import { isFinished } from '../pods/pod-state.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { type AssumedPod, AssumedPods } from './assumed-pods.ts';
import { type NodeLoad, place } from './place.ts';
import { PodVolumes, type VolumeLookup } from './pod-volumes.ts';
import { awaitedClaims, bindingState, bindVolumes } from './volume-binding.ts';

const NAME = 'default-scheduler';
/** The scheduler has its own field manager, even if it shares a process with other controllers. */
const WRITE = { fieldManager: 'kube-scheduler' };

// Keyed, because a Pod that is deleted has to be forgotten.
const sources = keyed('scheduler', { concurrency: 8 })
  .using<WorkloadDeps>()
  .watches(Pod, {
    indexes: { node: (pod: Pod) => (isFinished(pod) ? [] : [pod.spec?.nodeName ?? '']), claim: claimKeysOf },
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
  .watches(Node, { map: (_, cache) => schedulable(cache.list(Pod, { by: { node: '' } })) })
  .watches(PersistentVolumeClaim, {
    map: (claim, cache) => schedulable(cache.list(Pod, { by: { claim: keyString(keyOf(claim)) } })),
  })
  .watches(PersistentVolume, { map: (_, cache) => schedulable(withClaims(cache.list(Pod, { by: { node: '' } }))) })
  .watches(StorageClass, { map: (_, cache) => schedulable(withClaims(cache.list(Pod, { by: { node: '' } }))) });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** scheduler assigns a node to Pods that have none. */
export function scheduler(): Controller<WorkloadDeps> {
  const assumed = new AssumedPods();
  return sources.reconcile((context) => reconcile(context, assumed));
}

async function reconcile(context: Context, assumed: AssumedPods): Promise<ReconcileResult> {
  const { key, get, clock } = context;
  const pod = get(Pod, parseKey(key));
  if (!pod || pod.spec?.nodeName || !isSchedulable(pod)) {
    assumed.forget(key);
    return undefined;
  }
  const selected = assumed.get(key);
  if (selected && selected.awaited.length > 0) return continueBinding(context, assumed, pod, selected);
  const waitMs = assumed.waitMs(key, clock.now());
  if (waitMs > 0) return { requeueAfterMs: waitMs };

  const volumes = new PodVolumes(pod, volumeLookup(context, pod));
  const loads = nodeLoads(context, assumed);
  const namespaceLabels = (name: string) => get(Namespace, { name })?.metadata.labels;
  const placement = place(pod, loads, { namespaceLabels, volumes });
  if ('problem' in placement) {
    await reportProblem(context, pod, 'Unschedulable', placement.problem);
    return undefined;
  }
  const { node: name } = placement;
  const node = loads.find((load) => load.node.metadata?.name === name)?.node;
  const needed = node && volumes.on(node);
  const awaited = needed ? awaitedClaims(needed) : [];
  assumed.assume(key, { pod, node: name, awaited });
  try {
    if (needed && awaited.length > 0) await bindVolumes(context.live, needed, name, WRITE);
    else await bind(context, assumed, pod, name);
  } catch (error) {
    assumed.release(key);
    throw error;
  }
  return undefined;
}

/** continueBinding binds a Pod when its claims are bound, and starts over if one of them cannot be. */
async function continueBinding(
  context: Context,
  assumed: AssumedPods,
  pod: Pod,
  { node: name, awaited }: AssumedPod,
): Promise<ReconcileResult> {
  const { key, get, clock } = context;
  const node = get(Node, { name });
  const state = node
    ? bindingState(awaited, node, volumeLookup(context, pod))
    : { problem: `failed to get node "${name}": node "${name}" not found` };
  if (state === 'complete') await bind(context, assumed, pod, name);
  if (typeof state === 'string') return undefined;
  assumed.release(key);
  const requeueAfterMs = assumed.backOff(key, clock.now());
  const message = `running PreBind plugin "VolumeBinding": binding volumes: ${state.problem}`;
  await reportProblem(context, pod, 'SchedulerError', message);
  return { requeueAfterMs };
}

/** volumeLookup reads the claims and volumes of a Pod from the cache. */
function volumeLookup({ get, list }: Context, pod: Pod): VolumeLookup {
  const { namespace, uid } = pod.metadata ?? {};
  return {
    claim: (name) => get(PersistentVolumeClaim, { namespace, name }),
    volume: (name) => get(PersistentVolume, { name }),
    storageClass: (name) => get(StorageClass, { name }),
    volumes: () => list(PersistentVolume),
    isUsed: (name) =>
      list(Pod, { by: { claim: keyString({ namespace, name }) } }).some(
        (other) => other.metadata.uid !== uid && !!other.spec?.nodeName && !isFinished(other),
      ),
  };
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

async function reportProblem(
  { live, clock, deps }: Context,
  pod: Pod,
  reason: 'Unschedulable' | 'SchedulerError',
  message: string,
): Promise<void> {
  const observedGeneration = pod.metadata?.generation;
  const condition = { type: 'PodScheduled', status: 'False', reason, message, observedGeneration };
  const conditions = withConditions(pod.status?.conditions, [condition], formatTime(clock.now()));
  if (sameJson(conditions, pod.status?.conditions)) return;
  const body = { metadata: { resourceVersion: pod.metadata?.resourceVersion }, status: { conditions } };
  await live.patch(Pod, keyOf(pod), { type: 'merge', body }, { subresource: 'status', ...WRITE });
  const event = { type: 'Warning', reason: 'FailedScheduling', note: message, action: 'Scheduling' } as const;
  deps.events.record(NAME, Pod, pod, event);
}

async function bind({ key, live, deps }: Context, assumed: AssumedPods, pod: Pod, node: string): Promise<void> {
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
  return pods.filter((pod) => !pod.spec?.nodeName && isSchedulable(pod)).map((pod) => keyString(keyOf(pod)));
}

function withClaims(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => podClaims(pod).length > 0);
}
