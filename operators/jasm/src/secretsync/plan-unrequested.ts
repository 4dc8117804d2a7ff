import type { SecretView } from './secrets.ts';

/**
 * How soon to check again whether the annotation of a pod has become valid: a change of that pod might not trigger a
 * run for this Secret.
 */
const RECHECK_MS = 60_000;

/** Retention holds everything that decides what to do about a Secret that no pod requests. */
export interface Retention {
  readonly secret: SecretView;
  /** Since when no pod requests it. */
  readonly unrequestedSince: number;
  readonly now: number;
  readonly graceMs: number;
  readonly mayDelete: boolean;
  /** Reports whether a pod of the namespace has an annotation that cannot be parsed: it may request this Secret. */
  readonly hasInvalidAnnotation: () => boolean;
}

/** UnrequestedStep is the next action on a Secret that no pod requests. */
export type UnrequestedStep =
  | { readonly step: 'keep'; readonly againInMs?: number | undefined }
  | { readonly step: 'delete' };

/**
 * planUnrequested decides the next action on a Secret that no pod requests: it is kept unless all its requesters set
 * deletionPolicy Delete.
 */
export function planUnrequested(retention: Retention): UnrequestedStep {
  const { secret, unrequestedSince, now, graceMs, mayDelete, hasInvalidAnnotation } = retention;
  if (!secret.isOurs || secret.isPaused || secret.isTerminating) return { step: 'keep' };
  if (!mayDelete || secret.operatorAnnotations.deletionPolicy !== 'Delete') return { step: 'keep' };
  const left = unrequestedSince + graceMs - now;
  if (left > 0) return { step: 'keep', againInMs: left };
  return hasInvalidAnnotation() ? { step: 'keep', againInMs: Math.max(graceMs, RECHECK_MS) } : { step: 'delete' };
}
