import type { SecretView } from './secrets.ts';

/**
 * How soon to check again whether the annotation of a pod has become valid: a change of that pod might not trigger a
 * run for this Secret.
 */
const LOOK_AGAIN_MS = 60_000;

/** Retention holds everything that decides what to do about a Secret that no pod requests. */
export interface Retention {
  readonly secret: SecretView;
  /** Since when no pod requests it. */
  readonly unaskedSince: number;
  readonly now: number;
  readonly graceMs: number;
  readonly mayDelete: boolean;
  /** Reports whether a pod of the namespace has an annotation that cannot be parsed: it may request this Secret. */
  readonly isUnclear: () => boolean;
}

/** UnaskedStep is the next action on a Secret that no pod requests. */
export type UnaskedStep =
  | { readonly step: 'keep'; readonly againInMs?: number | undefined }
  | { readonly step: 'delete' };

/**
 * planUnasked decides the next action on a Secret that no pod requests: it is kept unless all its requesters set
 * deletionPolicy Delete.
 */
export function planUnasked(retention: Retention): UnaskedStep {
  const { secret, unaskedSince, now, graceMs, mayDelete, isUnclear } = retention;
  if (!secret.isOurs || secret.isPaused || secret.isTerminating) return { step: 'keep' };
  if (!mayDelete || secret.marks.deletionPolicy !== 'Delete') return { step: 'keep' };
  const left = unaskedSince + graceMs - now;
  if (left > 0) return { step: 'keep', againInMs: left };
  return isUnclear() ? { step: 'keep', againInMs: Math.max(graceMs, LOOK_AGAIN_MS) } : { step: 'delete' };
}
