import { BowlineError, isForbidden, isNotFound } from '@bowline/runtime';
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

/** problemOf is what is in the way of a copy before anything is tried. */
export function problemOf({ problem }: Target): Obstacle | undefined {
  if (problem === undefined) return undefined;
  return problem === 'NamespaceMissing' ? NAMESPACE_MISSING : NAMESPACE_TERMINATING;
}

/** failed is the result of a copy whose write was refused or lost; `before` is what was known of it. */
export function failed(target: Target, error: unknown, before: CopyView | undefined): CopyResult {
  const { appliedHash: hash, syncedAt } = before?.marks ?? {};
  const obstacle = { ...obstacleOf(error), isRetried: true };
  return { target, deed: 'nothing', exists: before !== undefined, hash, syncedAt, obstacle };
}

function obstacleOf(error: unknown): Obstacle {
  // A copy that vanishes is made anew: what cannot be found is the namespace.
  if (isNotFound(error)) return NAMESPACE_MISSING;
  if (isForbidden(error)) {
    const isTerminating = error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
    return isTerminating ? NAMESPACE_TERMINATING : { state: 'Failed', reason: 'Forbidden', message: error.message };
  }
  const message = error instanceof BowlineError ? error.message : 'an unexpected error; see the log of the operator';
  return { state: 'Failed', reason: 'WriteFailed', message };
}
