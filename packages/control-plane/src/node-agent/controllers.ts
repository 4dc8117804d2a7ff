import { isIPv4 } from 'node:net';
import { keyOf, keyString, Namespace, Node, type ObjectKey, Pod, parseKey } from '@bowline/kubernetes';
import { diffMergePatch, formatTime } from '@bowline/machinery';
import { keyed, slow } from '@bowline/runtime';
import { isConflict, isNotFound } from '@bowline/runtime/client';
import type { Controller, LiveClient } from '@bowline/runtime/controller';
import type { Addresses } from './addresses.ts';
import { AGENT_LABEL, BEHAVIOUR_ANNOTATION, type NodeBehaviour, parseNodeBehaviour } from './behaviour.ts';
import type { Heartbeats } from './heartbeats.ts';
import { nodeStatus } from './node-status.ts';
import { nextStep, type PodStep } from './pod-step.ts';
import { sameJson } from './same-json.ts';
import { steeringOf } from './steering.ts';

/** AgentDeps holds the dependencies shared by the controllers of a node agent. */
export interface AgentDeps {
  readonly heartbeats: Heartbeats;
  readonly addresses: Addresses;
  /** The port of the log server on 127.0.0.1, if there is one. */
  readonly logPort: number | undefined;
  /** Called whenever a node has reported its status. */
  readonly onReported: (node: string) => void;
}

const ASSIGNED_PODS = 'spec.nodeName!=';

/** How long to wait when no address is left: Pods are deleted as quickly as they are created. */
const NO_ADDRESS = { minMs: 1_000, maxMs: 30_000 };

/** nodeController reports the status of the agent's nodes and starts their heartbeats. */
export function nodeController(agent: string): Controller<AgentDeps> {
  return (
    keyed('node-agent-nodes', { concurrency: 4 })
      .using<AgentDeps>()
      .watches(Node, { labelSelector: `${AGENT_LABEL}=${agent}`, indexes: { address: addressesOf }, map: nameOf })
      // Only for their addresses: nodes and Pods share a network.
      .watches(Pod, { fieldSelector: ASSIGNED_PODS, indexes: { address: podAddresses }, map: () => [] })
      .reconcile(async ({ key, get, list, live, clock, log, deps }) => {
        const node = get(Node, { name: key });
        const owner = `node/${key}`;
        if (node === undefined) {
          deps.heartbeats.drop(key);
          deps.addresses.release(owner);
          return;
        }
        const { behaviour, problem } = behaviourOf(node);
        if (problem) log.warn('cannot parse the steering of a node', { node: key, problem });
        if (behaviour === 'silent') {
          deps.heartbeats.drop(key);
          return;
        }
        const isUsed = (address: string): boolean =>
          list(Node, { by: { address } }).length > 0 || list(Pod, { by: { address } }).length > 0;
        const internalIP = hostIpOf(node) ?? deps.addresses.take(owner, isUsed);
        if (internalIP === undefined) throw slow('NoAddress', `no address is left for the node ${key}`, NO_ADDRESS);
        const facts = { now: formatTime(clock.now()), internalIP, problem, logPort: deps.logPort };
        const status = nodeStatus(node, behaviour, facts);
        if (!sameJson(node.status ?? {}, status)) await report(live, Node, node, status);
        deps.heartbeats.keep(node);
        deps.onReported(key);
      })
  );
}

/** podController does what a kubelet would for the Pods on the agent's nodes, without running anything. */
export function podController(agent: string): Controller<AgentDeps> {
  return keyed('node-agent-pods', { concurrency: 16 })
    .using<AgentDeps>()
    .watches(Pod, {
      fieldSelector: ASSIGNED_PODS,
      indexes: { node: (pod: Pod) => [pod.spec?.nodeName ?? ''], address: podAddresses },
      map: keyNames,
    })
    .watches(Node, {
      labelSelector: `${AGENT_LABEL}=${agent}`,
      indexes: { address: addressesOf },
      map: (node, cache) => cache.list(Pod, { by: { node: node.metadata?.name ?? '' } }).flatMap(keyNames),
    })
    .watches(Namespace, {
      view: 'metadata',
      map: (namespace, cache) => cache.list(Pod, { namespace: namespace.metadata.name ?? '' }).flatMap(keyNames),
    })
    .reconcile(async ({ key, get, list, live, clock, deps }) => {
      const pod = get(Pod, parseKey(key));
      if (pod === undefined || pod.status?.podIP !== undefined) deps.addresses.release(key);
      if (pod === undefined) return;
      const node = get(Node, { name: pod.spec?.nodeName ?? '' });
      const hostIP = node && hostIpOf(node);
      // A node of another agent, or one without an address yet, whose update will trigger this reconcile again.
      if (node === undefined || hostIP === undefined) return;

      const isUsed = (address: string): boolean =>
        list(Pod, { by: { address } }).length > 0 || list(Node, { by: { address } }).length > 0;
      const podIP = pod.status?.podIP ?? deps.addresses.take(key, isUsed);
      if (podIP === undefined) throw slow('NoAddress', `no address is left for the pod ${key}`, NO_ADDRESS);
      const facts = { now: formatTime(clock.now()), hostIP, podIP };
      const step = (by: Pick<Node, 'metadata'>, within: Pick<Namespace, 'metadata'> | undefined): PodStep =>
        nextStep(pod, steeringOf(pod, within), behaviourOf(by).behaviour, facts);
      const namespace = { name: pod.metadata?.namespace ?? '' };
      if (step(node, get(Namespace, namespace)).do === 'nothing') return;

      // A Pod created after a steering change must be steered even if the watch of the Namespace or Node lags behind: before
      // anything is written, the steering is read from the server.
      const [nodeNow, namespaceNow] = await Promise.all([
        live.find(Node, keyOf(node)),
        live.find(Namespace, namespace),
      ]);
      if (nodeNow === undefined) return;
      await take(live, pod, step(nodeNow, namespaceNow));
    });
}

async function take(live: LiveClient, pod: Pod, step: PodStep): Promise<void> {
  try {
    if (step.do === 'report') await report(live, Pod, pod, step.status);
    if (step.do === 'delete') {
      const preconditions = { uid: pod.metadata?.uid ?? '' };
      await live.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0, preconditions });
    }
  } catch (error) {
    // It was deleted, or another Pod has its name, which has its own events.
    if (isNotFound(error) || (step.do === 'delete' && isConflict(error))) return;
    throw error;
  }
}

/** report writes a status if the object has not changed meanwhile, because its lists are replaced as a whole. */
async function report<T extends Pod | Node>(
  live: LiveClient,
  resource: typeof Pod | typeof Node,
  object: T,
  status: T['status'],
): Promise<void> {
  const { uid, resourceVersion } = object.metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, status: diffMergePatch(object.status ?? {}, status) };
  await live.patch<Pod | Node>(resource, keyOf(object), { type: 'merge', body }, { subresource: 'status' });
}

/** behaviourOf parses the steering of a node. If that fails, the node is not ready and its condition explains why. */
function behaviourOf(node: Pick<Node, 'metadata'>): { behaviour: NodeBehaviour; problem?: string } {
  try {
    return { behaviour: parseNodeBehaviour(node.metadata?.annotations?.[BEHAVIOUR_ANNOTATION]) };
  } catch (error) {
    return { behaviour: 'not-ready', problem: error instanceof Error ? error.message : String(error) };
  }
}

function hostIpOf(node: Node): string | undefined {
  return node.status?.addresses?.find(({ type, address }) => type === 'InternalIP' && isIPv4(address))?.address;
}

function addressesOf(node: Node): readonly string[] {
  return (node.status?.addresses ?? []).map(({ address }) => address);
}

function podAddresses(pod: Pod): readonly string[] {
  return (pod.status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
}

function keyNames(object: Pod): readonly string[] {
  const key: ObjectKey = keyOf(object);
  return [keyString(key)];
}

function nameOf(node: Node): readonly string[] {
  return [node.metadata?.name ?? ''];
}
