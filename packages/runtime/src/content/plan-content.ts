import { MANAGED_BY } from '../identity/operator-identity.ts';
import type { ContentView } from './content-view.ts';
import { annotationHash } from './content-view.ts';
import type { DesiredContent, OperatorAnnotationFormat } from './managed-content.ts';

/**
 * Claim is an operator's decision about a stored object:
 * - `ours`: it belongs to the object that is reconciled;
 * - `left`: an owner that no longer exists left it behind: it is taken over, unless its content was changed since;
 * - `guest`: it belongs to another client, which allows us to keep keys in it: it gets no labels of ours;
 * - `foreign`: it belongs to another client;
 * - `{ refused }`: it must not be touched, for a reason of the operator's own.
 */
export type Claim<O = never> = 'ours' | 'left' | 'guest' | 'foreign' | { readonly refused: O };

/** ContentPolicy holds the decisions about an object that do not depend on its state alone. */
export interface ContentPolicy<V, O = never> {
  /**
   * claim returns who a stored object belongs to. Pure: it is called again whenever the object was changed meanwhile.
   */
  readonly claim: (view: V) => Claim<O>;
  /**
   * Which keys are ours: `all` that the object holds, or only those that we have `written`, next to keys of other
   * clients. Defaults to `all`.
   */
  readonly keys?: 'all' | 'written' | undefined;
  /** What happens to content that another client changed: `overwrite` it, or `stop`. Defaults to `overwrite`. */
  readonly drift?: 'overwrite' | 'stop' | undefined;
  /** Take over an object of another client, after saving its content if any of it would be lost. Defaults to false. */
  readonly adopt?: boolean | undefined;
  /** Recreate an immutable object that we created. Defaults to false. */
  readonly recreate?: boolean | undefined;
  /** Overwrite changed content and keys of other clients, regardless of `drift`. Defaults to false. */
  readonly force?: boolean | undefined;
}

/**
 * StopReason is why an object is not changed:
 * - `terminating`: it is being deleted;
 * - `exists`: it belongs to another client and `adopt` is false;
 * - `controlled`: another controller owns it;
 * - `immutable`: it cannot be changed, and we may not recreate it;
 * - `drift`: another client changed its content and the policy is to leave it;
 * - `keys`: a guest's keys would replace those of the owner;
 * - `refused`: the operator's `claim` refused it.
 */
export type StopReason = 'terminating' | 'exists' | 'controlled' | 'immutable' | 'drift' | 'keys' | 'refused';

/** ContentPlan is the planned step for one object. */
export type ContentPlan<O = never> =
  /** The object is as desired. */
  | { readonly step: 'keep' }
  | { readonly step: 'create' }
  /** Its content is correct; labels or annotations are not. */
  | { readonly step: 'mark' }
  /** `drift`: another client changed what we wrote. */
  | { readonly step: 'write'; readonly cause: 'desired' | 'drift' }
  /** It is immutable, but we created it. */
  | { readonly step: 'recreate' }
  | { readonly step: 'adopt' }
  | { readonly step: 'stop'; readonly reason: Exclude<StopReason, 'refused'> }
  | { readonly step: 'stop'; readonly reason: 'refused'; readonly refused: O };

/** Desired is the part of DesiredContent that a plan depends on. */
type Desired = Pick<
  DesiredContent<string, string>,
  'hash' | 'labels' | 'metadataHash' | 'operatorAnnotations' | 'immutable'
>;

type OperatorAnnotationFormats = { readonly [shortName: string]: string | OperatorAnnotationFormat };

/** planContent decides what to do with an object, given its known state. The first matching rule applies. */
export function planContent<V extends ContentView, O = never>(
  { operatorAnnotations }: { readonly operatorAnnotations: OperatorAnnotationFormats },
  view: V | undefined,
  desired: Desired,
  policy: ContentPolicy<V, O>,
): ContentPlan<O> {
  if (!view) return { step: 'create' };
  if (view.isTerminating) return stop('terminating');
  const claim = policy.claim(view);
  if (typeof claim === 'object') return { step: 'stop', reason: 'refused', refused: claim.refused };
  if (claim === 'foreign' || (claim === 'left' && view.hash !== view.appliedHash)) {
    return planForeign(view, desired, policy.adopt ?? false);
  }
  const isGuest = claim === 'guest';
  const hash = isGuest || policy.keys === 'written' ? view.managedHash : view.hash;
  if (desired.hash === undefined || hash === desired.hash)
    return isMarked(view, desired, { isGuest, operatorAnnotations }) ? { step: 'keep' } : { step: 'mark' };
  const isDrift = hash !== view.appliedHash;
  if (isDrift && policy.drift === 'stop' && !policy.force) return stop('drift');
  if (view.isImmutable) {
    return policy.recreate && !isGuest && !view.isAdopted ? { step: 'recreate' } : stop('immutable');
  }
  return { step: 'write', cause: isDrift ? 'drift' : 'desired' };
}

function planForeign(view: ContentView, desired: Desired, adopt: boolean): ContentPlan {
  if (view.controller !== undefined) return stop('controlled');
  if (!adopt) return stop('exists');
  if (view.isImmutable && view.hash !== desired.hash) return stop('immutable');
  return { step: 'adopt' };
}

/**
 * Which of our managers the label names is not compared: otherwise two processes with different settings would
 * overwrite it in turns. A guest does not change the labels of the object.
 */
function isMarked(
  view: ContentView,
  desired: Desired,
  {
    isGuest,
    operatorAnnotations,
  }: { readonly isGuest: boolean; readonly operatorAnnotations: OperatorAnnotationFormats },
): boolean {
  if (desired.hash !== undefined && view.appliedHash !== desired.hash) return false;
  for (const [shortName, value] of Object.entries(desired.operatorAnnotations)) {
    if (
      value !== undefined &&
      view.operatorAnnotations[shortName] !== keptOf(operatorAnnotations[shortName], value ?? undefined)
    )
      return false;
  }
  if (isGuest) return true;
  if (view.metadataHash !== desired.metadataHash || (desired.immutable && !view.isImmutable)) return false;
  for (const [name, value] of Object.entries(desired.labels)) {
    if (name !== MANAGED_BY && view.labels[name] !== value) return false;
  }
  return true;
}

function keptOf(format: string | OperatorAnnotationFormat | undefined, value: string | undefined): string | undefined {
  return typeof format === 'object' && format.keep === 'hash' ? annotationHash(value) : value;
}

function stop(reason: Exclude<StopReason, 'refused'>): ContentPlan {
  return { step: 'stop', reason };
}
