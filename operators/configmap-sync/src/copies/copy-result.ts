import { BowlineError, isForbidden, isNamespaceTerminating, isNotFound } from '@bowline/runtime';
import type { Target } from '../targets/resolve-targets.ts';
import type { CopyView } from './copy-view.ts';
import type { Obstacle } from './plan-copy.ts';

/** Deed is what was done to a copy, for events and metrics. */
export type Deed = 'nothing' | 'marked' | 'created' | 'updated' | 'repaired' | 'adopted' | 'recreated';

/** CopyResult is what became of one copy. */
export interface CopyResult {
  readonly target: Target;
  readonly deed: Deed;
  /** Why it is not as it should be; undefined when it is. */
  readonly obstacle?: (Obstacle & { /** Whether time may help. */ readonly isRetried?: boolean }) | undefined;
  /** Whether there is an object of that name. */
  readonly exists: boolean;
  /** The hash of what we wrote last. */
  readonly hash?: string | undefined;
  readonly syncedAt?: string | undefined;
}

const NAMESPACE_MISSING: Obstacle = {
  state: 'Pending',
  reason: 'NamespaceMissing',
  message: 'the namespace does not exist; the copy appears with it',
};

const NAMESPACE_TERMINATING: Obstacle = {
  state: 'Pending',
  reason: 'NamespaceTerminating',
  message: 'the namespace is being deleted',
};

const CYCLE_DETECTED: Obstacle = {
  state: 'Failed',
  reason: 'CycleDetected',
  // Whose they are is not told: they may be somebody else's.
  message:
    'what is copied there comes back to the source by way of other ConfigMapSyncs; choose another destination or name, or delete one of them',
};

const PROBLEMS: Readonly<Record<NonNullable<Target['problem']>, Obstacle>> = {
  NamespaceMissing: NAMESPACE_MISSING,
  NamespaceTerminating: NAMESPACE_TERMINATING,
  CycleDetected: CYCLE_DETECTED,
};

/** problemOf is what is in the way of a copy before anything is tried. */
export function problemOf({ problem }: Target): Obstacle | undefined {
  return problem && PROBLEMS[problem];
}

/** stopped is the result of a copy that was left as it is, because something is in the way; `before` is what is known of it. */
export function stopped(
  target: Target,
  obstacle: NonNullable<CopyResult['obstacle']>,
  before: CopyView | undefined,
): CopyResult {
  const { appliedHash: hash, syncedAt } = before?.marks ?? {};
  return { target, deed: 'nothing', exists: before !== undefined, hash, syncedAt, obstacle };
}

/** failed is the result of a copy whose write was refused or lost; `before` is what was known of it. */
export function failed(target: Target, error: unknown, before: CopyView | undefined): CopyResult {
  return stopped(target, { ...obstacleOf(error), isRetried: true }, before);
}

function obstacleOf(error: unknown): Obstacle {
  // A copy that vanishes is made anew: what cannot be found is the namespace.
  if (isNotFound(error)) return NAMESPACE_MISSING;
  if (isNamespaceTerminating(error)) return NAMESPACE_TERMINATING;
  if (isForbidden(error)) return { state: 'Failed', reason: 'Forbidden', message: error.message };
  const message = error instanceof BowlineError ? error.message : 'an unexpected error; see the log of the operator';
  return { state: 'Failed', reason: 'WriteFailed', message };
}
