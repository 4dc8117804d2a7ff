import type { SecretView } from './secrets.ts';

/** How soon it is looked again whether what a pod asks has become clear; no event of that pod may name this Secret. */
const LOOK_AGAIN_MS = 60_000;

/** Retention is what decides about a Secret that nobody asks for. */
export interface Retention {
  readonly secret: SecretView;
  /** Since when nobody asks. */
  readonly unaskedSince: number;
  readonly now: number;
  readonly graceMs: number;
  readonly mayDelete: boolean;
  /** A pod of the namespace asks for something that cannot be read: it may well mean this Secret. */
  readonly isUnclear: () => boolean;
}

/** UnaskedStep is what becomes of a Secret that nobody asks for. */
export type UnaskedStep =
  | { readonly step: 'keep'; readonly againInMs?: number | undefined }
  | { readonly step: 'delete' };

/** planUnasked decides what becomes of a Secret that nobody asks for: it stays, unless all who asked said that it goes with them. */
export function planUnasked(retention: Retention): UnaskedStep {
  const { secret, unaskedSince, now, graceMs, mayDelete, isUnclear } = retention;
  if (!secret.isOurs || secret.isPaused || secret.isTerminating) return { step: 'keep' };
  if (!mayDelete || secret.marks.deletionPolicy !== 'Delete') return { step: 'keep' };
  const left = unaskedSince + graceMs - now;
  if (left > 0) return { step: 'keep', againInMs: left };
  return isUnclear() ? { step: 'keep', againInMs: Math.max(graceMs, LOOK_AGAIN_MS) } : { step: 'delete' };
}
