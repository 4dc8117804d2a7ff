import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@bowline/kubernetes';
import { compareQuantities, parseQuantity } from '@bowline/machinery';
import { storageClassOf } from '../../server/volumes/storage-class-of.ts';
import { foreignClaimProblem, podClaims } from '../pods/pod-claims.ts';
import { isReachable, matchVolume } from '../volume-binder/match-volume.ts';
import { isDelayed, isFullyBound, SELECTED_NODE } from '../volume-binder/volume-annotations.ts';

/** VolumeLookup reads what the volumes of a Pod depend on. */
export interface VolumeLookup {
  claim(name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  volumes(): readonly PersistentVolume[];
  /** Whether another Pod with a node uses the claim. */
  isUsed(claim: string): boolean;
}

/** NodeVolumes is what has to be written before a Pod can run on a node, or why it cannot run there. */
export interface NodeVolumes {
  readonly problems: readonly string[];
  /** Free volumes for claims that wait for a node. */
  readonly bindings: readonly { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }[];
  /** Claims for which a volume is to be provisioned for the node. */
  readonly provisions: readonly PersistentVolumeClaim[];
}

const NOTHING: NodeVolumes = { problems: [], bindings: [], provisions: [] };
const NO_MATCH = "node(s) didn't find available persistent volumes to bind";
/** IN_USE is the only one of these problems that ends with another Pod. */
export const IN_USE =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';

/** PodVolumes holds the claims of a Pod: those that are bound, and those that wait for its node. */
export class PodVolumes {
  readonly #lookup: VolumeLookup;
  readonly #bound: PersistentVolumeClaim[] = [];
  readonly #delayed: PersistentVolumeClaim[] = [];
  /** Why the Pod cannot run on any node; undefined if that depends on the node. */
  readonly problem: string | undefined;
  readonly #isInUse: boolean;

  constructor(pod: Pod, lookup: VolumeLookup) {
    this.#lookup = lookup;
    let hasUnbound = false;
    let isInUse = false;
    for (const { name, isEphemeral } of podClaims(pod)) {
      const claim = lookup.claim(name);
      const problem = claim ? claimProblem(pod, claim, isEphemeral) : missingProblem(name, isEphemeral);
      this.problem ??= problem;
      if (!claim || problem !== undefined) continue;
      isInUse ||= (claim.spec?.accessModes?.includes('ReadWriteOncePod') ?? false) && lookup.isUsed(name);
      if (isFullyBound(claim)) this.#bound.push(claim);
      else if (!claim.spec?.volumeName && isDelayed(claim, (named) => lookup.storageClass(named))) {
        this.#delayed.push(claim);
      } else hasUnbound = true;
    }
    this.#isInUse = isInUse;
    if (hasUnbound) this.problem ??= 'pod has unbound immediate PersistentVolumeClaims';
  }

  /** on returns what the Pod needs on a node. */
  on(node: Node): NodeVolumes {
    if (this.#isInUse) return { ...NOTHING, problems: [IN_USE] };
    const problems = this.#boundProblem(node);
    if (this.#delayed.length === 0) return problems === undefined ? NOTHING : { ...NOTHING, problems: [problems] };
    const found = this.#match(node);
    if (!found) return { ...NOTHING, problems: [...(problems === undefined ? [] : [problems]), NO_MATCH] };
    return problems === undefined ? found : { ...NOTHING, problems: [problems] };
  }

  #boundProblem(node: Node): string | undefined {
    for (const { spec } of this.#bound) {
      const volume = this.#lookup.volume(spec?.volumeName ?? '');
      if (!volume) return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
      if (!isReachable(volume, node)) return "node(s) didn't match PersistentVolume's node affinity";
    }
    return undefined;
  }

  /** match finds volumes for the claims that wait, smallest claim first; undefined if one gets none on this node. */
  #match(node: Node): NodeVolumes | undefined {
    const bindings: { volume: PersistentVolume; claim: PersistentVolumeClaim }[] = [];
    const provisions: PersistentVolumeClaim[] = [];
    const excluded = new Set<string>();
    for (const claim of this.#delayed.toSorted(bySize)) {
      const selected = claim.metadata?.annotations?.[SELECTED_NODE];
      if (selected !== undefined && selected !== node.metadata?.name) return undefined;
      const volume =
        selected === undefined ? matchVolume(claim, this.#lookup.volumes(), { node, excluded }) : undefined;
      if (volume) {
        excluded.add(volume.metadata?.name ?? '');
        bindings.push({ volume, claim });
      } else if (isProvisionable(this.#lookup.storageClass(storageClassOf(claim) ?? ''), node)) provisions.push(claim);
      else return undefined;
    }
    return { problems: [], bindings, provisions };
  }
}

function missingProblem(name: string, isEphemeral: boolean): string {
  return isEphemeral
    ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
    : `persistentvolumeclaim "${name}" not found`;
}

function claimProblem(pod: Pod, claim: PersistentVolumeClaim, isEphemeral: boolean): string | undefined {
  const { metadata, spec, status } = claim;
  const named = `persistentvolumeclaim "${metadata?.name ?? ''}"`;
  if (status?.phase === 'Lost') return `${named} bound to non-existent persistentvolume "${spec?.volumeName ?? ''}"`;
  if (metadata?.deletionTimestamp !== undefined) return `${named} is being deleted`;
  return isEphemeral ? foreignClaimProblem(pod, claim) : undefined;
}

function isProvisionable(found: StorageClass | undefined, { metadata }: Node): boolean {
  if (!found || found.provisioner === 'kubernetes.io/no-provisioner') return false;
  const terms = found.allowedTopologies ?? [];
  const labels = metadata?.labels ?? {};
  return (
    terms.length === 0 ||
    terms.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
    )
  );
}

function bySize(a: PersistentVolumeClaim, b: PersistentVolumeClaim): number {
  const size = ({ spec }: PersistentVolumeClaim) => parseQuantity(spec?.resources?.requests?.storage ?? '0');
  return compareQuantities(size(a), size(b));
}
