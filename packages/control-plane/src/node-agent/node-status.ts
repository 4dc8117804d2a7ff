import type { Node, NodeCondition, NodeStatus } from '@bowline/kubernetes';
import type { NodeBehaviour } from './behaviour.ts';
import { withConditions } from './conditions.ts';

/** NodeFacts holds the inputs of a Node's status besides the Node. */
export interface NodeFacts {
  /** RFC 3339. */
  readonly now: string;
  /** The address for a Node that has none yet. */
  readonly internalIP: string;
  /** Why the node is not ready. Defaults to a message that it was steered so. */
  readonly problem?: string | undefined;
  /** The port of the log server on 127.0.0.1. Defaults to none. */
  readonly logPort?: number | undefined;
}

/** Ample, so that capacity is never the reason why a Pod is not scheduled. */
export const DEFAULT_CAPACITY: Readonly<Record<string, string>> = Object.freeze({
  cpu: '64',
  memory: '256Gi',
  // Below a thousand, which the API server would write as 1k.
  pods: '500',
  'ephemeral-storage': '1Ti',
});

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** ARCHITECTURE is this machine's architecture as named by Kubernetes. */
export const ARCHITECTURE: string = ARCHITECTURES[process.arch] ?? process.arch;

/** A valid version that no kubelet has, because there is no kubelet here. */
const VERSION = 'v0.0.0-bowline-node-agent';

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** nodeStatus returns the status a kubelet would report, with what others added to it. */
export function nodeStatus(node: Node, behaviour: Exclude<NodeBehaviour, 'silent'>, facts: NodeFacts): NodeStatus {
  const { status = {} } = node;
  const capacity = { ...DEFAULT_CAPACITY, ...status.capacity };
  return {
    ...status,
    capacity,
    allocatable: { ...capacity, ...status.allocatable },
    addresses: addressesOf(node, facts),
    // If absent, the API server has no endpoint for logs.
    daemonEndpoints: facts.logPort === undefined ? undefined : { kubeletEndpoint: { Port: facts.logPort } },
    conditions: nodeConditions(status.conditions, behaviour, facts),
    nodeInfo: status.nodeInfo?.kubeletVersion
      ? status.nodeInfo
      : {
          architecture: ARCHITECTURE,
          operatingSystem: 'linux',
          osImage: 'none: simulated by the Bowline node agent',
          kernelVersion: 'none',
          containerRuntimeVersion: 'bowline://none',
          kubeletVersion: VERSION,
          kubeProxyVersion: VERSION,
          machineID: '',
          systemUUID: '',
          bootID: '',
        },
  };
}

/** The API server requests logs at the host name first; the endpoints of a Service use the internal address, never loopback. */
function addressesOf({ metadata, status }: Node, { internalIP, logPort }: NodeFacts): NodeStatus['addresses'] {
  const hostname = { type: 'Hostname', address: logPort === undefined ? (metadata?.name ?? '') : '127.0.0.1' };
  const others = status?.addresses?.filter(({ type }) => type !== 'Hostname') ?? [];
  return [...(others.length > 0 ? others : [{ type: 'InternalIP', address: internalIP }]), hostname];
}

function nodeConditions(
  previous: readonly NodeCondition[] | undefined,
  behaviour: 'ready' | 'not-ready',
  { now, problem = 'the node agent was steered to be not ready' }: NodeFacts,
): readonly NodeCondition[] {
  const ready =
    behaviour === 'ready'
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the node agent simulates this node' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: problem };
  const pressures = PRESSURES.map((type) => ({
    type,
    status: 'False',
    reason: 'KubeletHasSufficientResources',
    message: 'no resources are used on this node',
  }));
  const wanted = [...pressures, ready].map((condition) => {
    const before = previous?.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status && before.reason === condition.reason;
    // The Lease is the heartbeat; writing a status only to update the time would be noise.
    return { ...condition, lastHeartbeatTime: isSame ? before.lastHeartbeatTime : now };
  });
  return withConditions(previous, wanted, now);
}
