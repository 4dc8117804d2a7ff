import type { Spec } from '../api/config-map-sync.ts';
import { ANNOTATIONS } from '../api/names.ts';
import type { CopyView } from './copy-view.ts';
import type { DesiredCopy } from './desired-copy.ts';
import { ownerOf } from './ownership.ts';

/** CopyRules are what decides about a copy besides its state. */
export interface CopyRules {
  /** The ConfigMapSync, as `ownerText` writes it. */
  readonly owner: string;
  /** Its uid. */
  readonly uid: string;
  /** Whether a ConfigMapSync that labels name exists. */
  readonly isAlive: (owner: string) => boolean;
  readonly policy: Spec['conflictPolicy'];
  readonly adoptExisting: boolean;
  /** Somebody asked for a sync over conflicts. */
  readonly isForced: boolean;
}

/** Obstacle is why a copy is not as it should be, and who has to do something about it. */
export interface Obstacle {
  /** Pending waits for something, Conflict for a person's decision, Failed for a person's help. */
  readonly state: 'Pending' | 'Conflict' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** CopyPlan is what is done about one copy. */
export type CopyPlan =
  /** It is as it should be. */
  | { readonly step: 'keep' }
  | { readonly step: 'create' }
  /** Its content is right; labels and annotations are not. */
  | { readonly step: 'mark' }
  /** `drift` says that somebody else changed what we wrote. */
  | { readonly step: 'write'; readonly cause: 'source' | 'drift' }
  /** It cannot be changed, but it is ours to delete. */
  | { readonly step: 'recreate' }
  /** It is somebody else's, and may be taken over once its content is saved. */
  | { readonly step: 'adopt' }
  | { readonly step: 'stop'; readonly why: Obstacle };

/** planCopy decides what is done about a copy, given what is there. The first rule that fits counts. */
export function planCopy(
  copy: CopyView | undefined,
  desired: Pick<DesiredCopy, 'hash' | 'labels' | 'metadataHash' | 'origin'>,
  rules: CopyRules,
): CopyPlan {
  if (!copy) return { step: 'create' };
  if (copy.isTerminating)
    return stop('Pending', 'DestinationTerminating', 'it is being deleted; it is made anew when it is gone');
  const owner = ownerOf(copy.labels);
  if (owner === undefined) return planForeign(copy, desired, rules);
  if (owner !== rules.owner && rules.isAlive(owner)) {
    return stop(
      'Failed',
      'DestinationOwnedByAnother',
      `it belongs to the ConfigMapSync ${owner}; choose another name, or delete that one`,
    );
  }
  if (owner !== rules.owner || copy.marks.syncUid !== rules.uid) {
    // What a ConfigMapSync that is gone has left behind is ours to take, unless somebody has edited it since.
    if (copy.hash !== copy.marks.appliedHash) return planForeign(copy, desired, rules);
  }
  return planOwn(copy, desired, rules);
}

function planForeign(copy: CopyView, desired: Pick<DesiredCopy, 'hash'>, rules: CopyRules): CopyPlan {
  if (copy.controller !== undefined) {
    return stop('Failed', 'DestinationOwnedByAnother', `it is controlled by ${copy.controller}; choose another name`);
  }
  if (!rules.adoptExisting) {
    return stop(
      'Failed',
      'DestinationExists',
      'it exists and adoptExisting is false; delete it, or choose another name',
    );
  }
  if (copy.isImmutable && copy.hash !== desired.hash) return immutable();
  return { step: 'adopt' };
}

function planOwn(
  copy: CopyView,
  desired: Pick<DesiredCopy, 'hash' | 'labels' | 'metadataHash' | 'origin'>,
  { policy, isForced }: CopyRules,
): CopyPlan {
  const hash = policy === 'Merge' ? copy.managedHash : copy.hash;
  if (hash === desired.hash) return isMarked(copy, desired) ? { step: 'keep' } : { step: 'mark' };
  const isDrift = hash !== copy.marks.appliedHash;
  if (isDrift && policy === 'SkipIfModified' && !isForced) {
    return stop(
      'Conflict',
      'DestinationModified',
      'somebody else changed it; undo that, or set the annotation sync.bowline.dev/force-sync to a new value',
    );
  }
  if (copy.isImmutable) return copy.marks.isAdopted ? immutable() : { step: 'recreate' };
  return { step: 'write', cause: isDrift ? 'drift' : 'source' };
}

function isMarked(
  { labels, marks, metadataHash }: CopyView,
  desired: Pick<DesiredCopy, 'hash' | 'labels' | 'metadataHash' | 'origin'>,
): boolean {
  return (
    marks.appliedHash === desired.hash &&
    marks.syncUid === desired.origin[ANNOTATIONS.syncUid] &&
    marks.source === desired.origin[ANNOTATIONS.source] &&
    marks.sourceUid === desired.origin[ANNOTATIONS.sourceUid] &&
    metadataHash === desired.metadataHash &&
    Object.entries(desired.labels).every(([name, value]) => labels[name] === value)
  );
}

function immutable(): CopyPlan {
  return stop(
    'Failed',
    'DestinationImmutable',
    'it is immutable and was there before; delete it, or choose another name',
  );
}

function stop(state: Obstacle['state'], reason: string, message: string): CopyPlan {
  return { step: 'stop', why: { state, reason, message } };
}
