import type { Node, PersistentVolume, PersistentVolumeClaim } from '@bowline/kubernetes';
import { compareQuantities, labelSelector, parseQuantity } from '@bowline/machinery';
import { storageClassOf } from '../../server/volumes/storage-class-of.ts';
import { isTermMet } from '../pods/node-selection.ts';

/** MatchOptions restricts the volumes for a claim. */
export interface MatchOptions {
  /** The node that the volume must be reachable from. Defaults to any. */
  readonly node?: Node | undefined;
  /** Whether only a volume that is reserved for the claim may be used: the scheduler selects others. Defaults to false. */
  readonly onlyReserved?: boolean | undefined;
  /** The names of volumes that are already selected for other claims. Defaults to none. */
  readonly excluded?: ReadonlySet<string> | undefined;
}

/**
 * matchVolume returns the volume to bind a claim to. Volumes with the fewest access modes come first; among them, one
 * that is reserved for the claim, and then the smallest that is large enough.
 */
export function matchVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  options: MatchOptions = {},
): PersistentVolume | undefined {
  const modes = claim.spec?.accessModes ?? [];
  const candidates = volumes
    .filter((volume) => modes.every((mode) => volume.spec?.accessModes?.includes(mode)))
    .filter((volume) => isUsable(claim, volume) && !options.excluded?.has(volume.metadata?.name ?? ''))
    .toSorted(bySizeAndName);
  const counts = [...new Set(candidates.map(modeCount))].sort((a, b) => a - b);
  for (const count of counts) {
    const alike = candidates.filter((volume) => modeCount(volume) === count);
    const reserved = alike.find((volume) => isReservedFor(volume, claim));
    if (reserved) return isReachable(reserved, options.node) ? reserved : undefined;
    if (options.onlyReserved) continue;
    const free = alike.find((volume) => isFree(claim, volume) && isReachable(volume, options.node));
    if (free) return free;
  }
  return undefined;
}

/** isReservedFor reports whether a volume is bound to a claim, or reserved for it by name. */
export function isReservedFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid } = spec?.claimRef ?? {};
  return name === metadata?.name && namespace === metadata?.namespace && (!uid || uid === metadata?.uid);
}

/** requestProblem returns why a volume that a claim names cannot be bound to it; undefined if it can. */
export function requestProblem(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata?.deletionTimestamp !== undefined)
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (isSmaller(volume, claim)) return 'requested PV is too small';
  if ((storageClassOf(volume) ?? '') !== (storageClassOf(claim) ?? '')) return 'storageClassName does not match';
  if (!hasSameAttributes(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!hasSameMode(volume, claim)) return 'incompatible volumeMode';
  const isOffered = claim.spec?.accessModes?.every((mode) => volume.spec?.accessModes?.includes(mode)) ?? true;
  return isOffered ? undefined : 'incompatible accessMode';
}

/** hasSameMode reports whether both are file systems or both are block devices. */
export function hasSameMode(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem');
}

/** isReachable reports whether a node has access to a volume. */
export function isReachable({ spec }: PersistentVolume, node: Node | undefined): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return node === undefined || terms === undefined || terms.some((term) => isTermMet(term, node));
}

function isUsable(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.spec?.claimRef && !isReservedFor(volume, claim)) return false;
  if (volume.metadata?.deletionTimestamp !== undefined) return false;
  return !isSmaller(volume, claim) && hasSameMode(volume, claim) && hasSameAttributes(volume, claim);
}

function isFree(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.status?.phase !== 'Available') return false;
  if ((storageClassOf(volume) ?? '') !== (storageClassOf(claim) ?? '')) return false;
  const { selector } = claim.spec ?? {};
  return !selector || labelSelector(selector).matches(volume.metadata?.labels);
}

function hasSameAttributes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '');
}

function isSmaller(volume: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  return compareQuantities(sizeOf(volume), parseQuantity(spec?.resources?.requests?.storage ?? '0')) < 0;
}

function sizeOf({ spec }: PersistentVolume) {
  return parseQuantity(spec?.capacity?.storage ?? '0');
}

function modeCount({ spec }: PersistentVolume): number {
  return new Set(spec?.accessModes).size;
}

function bySizeAndName(a: PersistentVolume, b: PersistentVolume): number {
  const order = compareQuantities(sizeOf(a), sizeOf(b));
  return order === 0 ? ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1) : order;
}
