import type { PersistentVolumeClaim } from '@bowline/kubernetes';
import type { StorageSpec } from './claim.ts';

/** StorageProblem is the reason and message of the condition StoragePending. */
export interface StorageProblem {
  readonly reason: 'ImmutableStorage' | 'ClaimUnbound' | 'ClaimLost' | 'NodesDiffer';
  readonly message: string;
}

/** PlacedPod is a pod that mounts the claim. */
export interface PlacedPod {
  readonly name: string;
  /** Empty until the pod is scheduled. */
  readonly node: string;
}

const MAX_PODS = 5;

/** storageProblem returns what is wrong with a claim that exists as requested. Undefined if the agents can use it. */
export function storageProblem(
  claim: PersistentVolumeClaim,
  { accessMode }: StorageSpec,
  pods: readonly PlacedPod[],
): StorageProblem | undefined {
  const name = claim.metadata?.name;
  const phase = claim.status?.phase;
  if (phase === 'Lost') {
    return {
      reason: 'ClaimLost',
      message: `PersistentVolumeClaim ${name} has lost its volume; delete the claim, it is created again`,
    };
  }
  if (phase !== 'Bound') {
    return {
      reason: 'ClaimUnbound',
      message: `PersistentVolumeClaim ${name} is not bound to a volume; check its events, the StorageClass and its provisioner`,
    };
  }
  return accessMode === 'ReadWriteOnce' ? nodeProblem(pods) : undefined;
}

/** A ReadWriteOnce volume is mounted on one node: pods on others do not start. */
function nodeProblem(pods: readonly PlacedPod[]): StorageProblem | undefined {
  const placed = pods.filter(({ node }) => node !== '');
  const nodes = new Set(placed.map(({ node }) => node));
  if (nodes.size < 2) return undefined;
  const names = placed.map((pod) => pod.name).sort();
  const more = names.length > MAX_PODS ? ` and ${names.length - MAX_PODS} more` : '';
  return {
    reason: 'NodesDiffer',
    message: `the pods ${names.slice(0, MAX_PODS).join(', ')}${more} are on ${nodes.size} nodes, and a ReadWriteOnce volume can be mounted on one; use ReadWriteMany, or schedule them on one node`,
  };
}
