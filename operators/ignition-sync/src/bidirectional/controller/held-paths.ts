import type { ChangeOrigin } from './change-message.ts';

/** PathChange is a path that differs between two commits. */
export interface PathChange {
  readonly path: string;
  /** The hash of its content afterwards. Undefined: it was deleted. */
  readonly hash: string | undefined;
}

/** MAX_HELD is the maximum number of paths of one gateway that are not synced. */
export const MAX_HELD = 1024;

/**
 * conflictsBetween returns the paths that were changed on a gateway and in Git since the commit that the gateway had, unless both sides
 * have the same content now.
 */
export function conflictsBetween(onGateway: readonly PathChange[], inGit: readonly PathChange[]): readonly string[] {
  const changed = new Map(inGit.map(({ path, hash }) => [path, hash ?? '']));
  const conflicts = onGateway.filter(({ path, hash }) => {
    const other = changed.get(path);
    return other !== undefined && other !== (hash ?? '');
  });
  return conflicts.map(({ path }) => path).toSorted();
}

/** HeldInput is what decides whether conflicting paths are synced. */
export interface HeldInput {
  readonly strategy: 'gitWins' | 'gatewayWins' | 'manual';
  readonly conflicts: readonly string[];
  readonly origin: Pick<ChangeOrigin, 'retry'>;
  /** The annotation `retry` of the IgnitionSync now, as a hash. */
  readonly retry: string;
  /** Whether the pull request is open. Undefined: none is used, and the branch exists until it is merged or deleted. */
  readonly isOpen: boolean | undefined;
}

/** heldPaths returns the paths that are not synced to a gateway, because its own content is kept for now. */
export function heldPaths({ strategy, conflicts, origin, retry, isOpen }: HeldInput): readonly string[] {
  const isHeld = (strategy === 'gatewayWins' && isOpen !== false) || (strategy === 'manual' && origin.retry === retry);
  return isHeld ? conflicts.slice(0, MAX_HELD) : [];
}
