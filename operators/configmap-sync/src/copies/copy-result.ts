import type { ConfigMap } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { isForbidden, isNamespaceTerminating, isNotFound } from '@bowline/runtime/client';
import type { ContentStop, Ensured, StopReason } from '@bowline/runtime/writing';
import type { Target } from '../targets/resolve-targets.ts';
import type { CopyView } from './copies.ts';

/** Obstacle reports why a copy is not in its desired state, and who has to act. */
export interface Obstacle {
  /** Pending waits for an event, Conflict for a user's decision, Failed for a user's help. */
  readonly state: 'Pending' | 'Conflict' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** EnsuredCopy is what `ensure` returns for a copy. */
export type EnsuredCopy = Ensured<ConfigMap, CopyView, Obstacle>;

/** CopyResult is the result of syncing one copy. */
export interface CopyResult {
  readonly target: Target;
  /** For events and metrics. */
  readonly outcome: EnsuredCopy['outcome'];
  /** Why it is not in its desired state; undefined if it is. */
  readonly obstacle?: (Obstacle & { /** Whether a retry may help. */ readonly isRetried?: boolean }) | undefined;
  /** Whether an object of that name exists. */
  readonly exists: boolean;
  /** The hash of the content that we wrote last. */
  readonly hash?: string | undefined;
  readonly syncedAt?: string | undefined;
}

const NAMESPACE_MISSING: Obstacle = {
  state: 'Pending',
  reason: 'NamespaceMissing',
  message: 'the namespace does not exist; create it, or remove the destination from the spec',
};

const NAMESPACE_TERMINATING: Obstacle = {
  state: 'Pending',
  reason: 'NamespaceTerminating',
  message: 'the namespace is being deleted; recreate it afterwards, or remove the destination from the spec',
};

const CYCLE_DETECTED: Obstacle = {
  state: 'Failed',
  reason: 'CycleDetected',
  // Other owners are not named: the author of this one may not be allowed to see them.
  message:
    'the copy would be written back to the source by other ConfigMapSyncs; choose another destination or name, or delete one of the ConfigMapSyncs',
};

const PROBLEMS: Readonly<Record<NonNullable<Target['problem']>, Obstacle>> = {
  NamespaceMissing: NAMESPACE_MISSING,
  NamespaceTerminating: NAMESPACE_TERMINATING,
  CycleDetected: CYCLE_DETECTED,
};

/** problemOf returns the obstacle to a copy that is known before any request. */
export function problemOf({ problem }: Target): Obstacle | undefined {
  return problem && PROBLEMS[problem];
}

const STOPS: Readonly<Record<Exclude<StopReason, 'controlled' | 'keys' | 'refused'>, Obstacle>> = {
  terminating: {
    state: 'Pending',
    reason: 'DestinationTerminating',
    message: 'the ConfigMap is being deleted and is recreated afterwards; if it is not deleted, check its finalizers',
  },
  exists: {
    state: 'Failed',
    reason: 'DestinationExists',
    message:
      'the ConfigMap already exists and spec.adoptExisting is false; delete it, choose another name, or set adoptExisting to true',
  },
  immutable: {
    state: 'Failed',
    reason: 'DestinationImmutable',
    message: 'the ConfigMap is immutable and was not created by this ConfigMapSync; delete it, or choose another name',
  },
  drift: {
    state: 'Conflict',
    reason: 'DestinationModified',
    message:
      'another client changed the copy; revert the change, or overwrite it by setting the annotation sync.bowline.dev/force-sync on the ConfigMapSync to a new value',
  },
};

/** obstacleIn returns why a copy was left unchanged. */
export function obstacleIn({ reason, refused }: ContentStop<Obstacle>, copy: CopyView | undefined): Obstacle {
  if (refused) return refused;
  if (reason !== 'controlled' && reason !== 'keys' && reason !== 'refused') return STOPS[reason];
  return {
    state: 'Failed',
    reason: 'DestinationOwnedByAnother',
    message: `the ConfigMap is controlled by ${copy?.controller}; choose another name`,
  };
}

/** resultOf returns the result of a copy from the result of `ensure`. */
export function resultOf(target: Target, ensured: EnsuredCopy): CopyResult {
  const { outcome, stop, conflicts, before, hash, writtenAt: syncedAt } = ensured;
  const obstacle = stop ? obstacleIn(stop, before) : keyConflict(conflicts);
  return { target, outcome, obstacle, exists: true, hash, syncedAt };
}

/** The maximum number of keys in a message. */
const MAX_NAMED = 10;

function keyConflict(conflicts: readonly string[]): Obstacle | undefined {
  if (conflicts.length === 0) return undefined;
  const keys = conflicts.slice(0, MAX_NAMED).join(', ');
  const message = `another client changed these keys of the copy: ${conflicts.length > MAX_NAMED ? `${keys}, …` : keys}; remove them from the copy, or overwrite them by setting the annotation sync.bowline.dev/force-sync on the ConfigMapSync to a new value`;
  return { state: 'Conflict', reason: 'KeyConflict', message };
}

/**
 * untouched returns the result of a copy that was left unchanged; `before` is its known state, and `obstacle` the
 * reason.
 */
export function untouched(target: Target, before: CopyView | undefined, obstacle?: CopyResult['obstacle']): CopyResult {
  const { appliedHash: hash, writtenAt: syncedAt } = before ?? {};
  const outcome = obstacle ? 'stopped' : 'unchanged';
  return { target, outcome, exists: before !== undefined, hash, syncedAt, obstacle };
}

/** failed returns the result of a copy whose write was refused or lost; `before` is its previously known state. */
export function failed(target: Target, error: unknown, before: CopyView | undefined): CopyResult {
  return untouched(target, before, { ...obstacleOf(error), isRetried: true });
}

function obstacleOf(error: unknown): Obstacle {
  // A missing copy is created again, so what was not found is the namespace.
  if (isNotFound(error)) return NAMESPACE_MISSING;
  if (isNamespaceTerminating(error)) return NAMESPACE_TERMINATING;
  if (isForbidden(error)) return { state: 'Failed', reason: 'Forbidden', message: error.message };
  const message = error instanceof BowlineError ? error.message : "unexpected error; see the operator's log";
  return { state: 'Failed', reason: 'WriteFailed', message };
}
