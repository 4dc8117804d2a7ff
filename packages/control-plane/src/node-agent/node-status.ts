import type { Node, NodeCondition, NodeStatus } from '@bowline/kubernetes';
import type { NodeBehaviour } from './behaviour.ts';
import { withConditions } from './conditions.ts';

/** NodeFacts is what a Node's status needs to know besides the Node. */
export interface NodeFacts {
  /** RFC 3339. */
  readonly now: string;
  /** The address for a Node that has none yet. */
  readonly internalIP: string;
  /** Why the node is not ready. Defaults to that it was told so. */
  readonly problem?: string | undefined;
  /** Where logs are served on 127.0.0.1. Defaults to nowhere. */
  readonly logPort?: number | undefined;
}

/** Roomy, so that no scheduler is ever the reason why something does not run. */
export const DEFAULT_CAPACITY: Readonly<Record<string, string>> = Object.freeze({
  cpu: '64',
  memory: '256Gi',
  // Below a thousand, which the API server would write as 1k.
  pods: '500',
  'ephemeral-storage': '1Ti',
});

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** ARCHITECTURE is this machine's, in Kubernetes' words. */
export const ARCHITECTURE: string = ARCHITECTURES[process.arch] ?? process.arch;

/** A version that no kubelet has and that still reads as one: there is no kubelet here. */
const VERSION = 'v0.0.0-bowline-node-agent';

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** nodeStatus is what a kubelet would report; what others added to the status stays. */
export function nodeStatus(node: Node, behaviour: Exclude<NodeBehaviour, 'silent'>, facts: NodeFacts): NodeStatus {
  const { status = {} } = node;
  const capacity = { ...DEFAULT_CAPACITY, ...status.capacity };
  return {
    ...status,
    capacity,
    allocatable: { ...capacity, ...status.allocatable },
    addresses: addressesOf(node, facts),
    // Absent: the API server then has nowhere to ask for logs.
    daemonEndpoints: facts.logPort === undefined ? undefined : { kubeletEndpoint: { Port: facts.logPort } },
    conditions: nodeConditions(status.conditions, behaviour, facts),
    nodeInfo: status.nodeInfo?.kubeletVersion
      ? status.nodeInfo
      : {
          architecture: ARCHITECTURE,
          operatingSystem: 'linux',
          osImage: 'none: played by the Bowline node agent',
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

/** The API server asks for logs at the host name first; a Service's endpoints are at the internal address, never loopback. */
function addressesOf({ metadata, status }: Node, { internalIP, logPort }: NodeFacts): NodeStatus['addresses'] {
  const hostname = { type: 'Hostname', address: logPort === undefined ? (metadata?.name ?? '') : '127.0.0.1' };
  const others = status?.addresses?.filter(({ type }) => type !== 'Hostname') ?? [];
  return [...(others.length > 0 ? others : [{ type: 'InternalIP', address: internalIP }]), hostname];
}

function nodeConditions(
  previous: readonly NodeCondition[] | undefined,
  behaviour: 'ready' | 'not-ready',
  { now, problem = 'the node agent was told to be not ready' }: NodeFacts,
): readonly NodeCondition[] {
  const ready =
    behaviour === 'ready'
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the node agent plays this node' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: problem };
  const pressures = PRESSURES.map((type) => ({
    type,
    status: 'False',
    reason: 'KubeletHasSufficientResources',
    message: 'nothing is used on this node',
  }));
  const wanted = [...pressures, ready].map((condition) => {
    const before = previous?.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status && before.reason === condition.reason;
    // The Lease is the heartbeat; a status that is written for the time alone would be noise.
    return { ...condition, lastHeartbeatTime: isSame ? before.lastHeartbeatTime : now };
  });
  return withConditions(previous, wanted, now);
}
