import { keyOf, type Node, PersistentVolume, PersistentVolumeClaim } from '@bowline/kubernetes';
import type { LiveClient } from '@bowline/runtime/controller';
import { reservationFor } from '../volume-binder/bind.ts';
import { isReachable } from '../volume-binder/match-volume.ts';
import { isFullyBound, SELECTED_NODE } from '../volume-binder/volume-annotations.ts';
import type { AwaitedClaim } from './assumed-pods.ts';
import type { NodeVolumes, VolumeLookup } from './pod-volumes.ts';

/** BindingState is how far the binding of a Pod's claims has come. */
export type BindingState = 'complete' | 'waiting' | { readonly problem: string };

/** awaitedClaims returns the claims that have to be bound before a Pod can run on its node. */
export function awaitedClaims({ bindings, provisions }: NodeVolumes): readonly AwaitedClaim[] {
  return [
    ...bindings.map(({ claim, volume }) => ({ name: nameOf(claim), volume: nameOf(volume) })),
    ...provisions.map((claim) => ({ name: nameOf(claim), volume: undefined })),
  ];
}

/** bindVolumes reserves volumes for the claims of a Pod, and has others provisioned for its node. */
export async function bindVolumes(
  live: LiveClient,
  { bindings, provisions }: NodeVolumes,
  node: string,
  options: { readonly fieldManager: string },
): Promise<void> {
  for (const { volume, claim } of bindings) {
    const body = reservationFor(volume, claim);
    if (body) await live.patch(PersistentVolume, keyOf(volume), { type: 'merge', body }, options);
  }
  for (const claim of provisions) {
    const { annotations, resourceVersion } = claim.metadata ?? {};
    // Another Pod with the same claim may have selected the node.
    if (annotations?.[SELECTED_NODE] === node) continue;
    const body = { metadata: { resourceVersion, annotations: { [SELECTED_NODE]: node } } };
    await live.patch(PersistentVolumeClaim, keyOf(claim), { type: 'merge', body }, options);
  }
}

/** bindingState reports whether the claims of a Pod are bound, and if not, whether they still can be on its node. */
export function bindingState(awaited: readonly AwaitedClaim[], node: Node, lookup: VolumeLookup): BindingState {
  let isComplete = true;
  for (const { name, volume } of awaited) {
    const claim = lookup.claim(name);
    if (!claim) return { problem: `failed to check provisioning pvc: persistentvolumeclaim "${name}" not found` };
    const problem = volume === undefined ? provisionProblem(claim, node) : reservationProblem(volume, lookup);
    if (problem !== undefined) return { problem };
    const bound = lookup.volume(volume ?? claim.spec?.volumeName ?? '');
    if (bound && !isReachable(bound, node)) {
      const where = `pv "${nameOf(bound)}" node affinity doesn't match node "${nameOf(node)}"`;
      return { problem: `${where}: no matching NodeSelectorTerms` };
    }
    isComplete &&= isFullyBound(claim) && bound !== undefined;
  }
  return isComplete ? 'complete' : 'waiting';
}

/** A provisioner that fails removes the selected node from the claim. */
function provisionProblem(claim: PersistentVolumeClaim, node: Node): string | undefined {
  const isSelected = claim.metadata?.annotations?.[SELECTED_NODE] === nameOf(node);
  return isSelected ? undefined : `provisioning failed for PVC "${nameOf(claim)}"`;
}

function reservationProblem(name: string, lookup: VolumeLookup): string | undefined {
  const volume = lookup.volume(name);
  if (!volume) return `failed to check binding: persistentvolume "${name}" not found`;
  return volume.spec?.claimRef?.uid ? undefined : `ClaimRef got reset for pv "${name}"`;
}

function nameOf({ metadata }: Pick<PersistentVolume | PersistentVolumeClaim | Node, 'metadata'>): string {
  return metadata?.name ?? '';
}
