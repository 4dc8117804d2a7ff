import type { ChangePart } from '../changes/change-set.ts';
import type { ChangeOrigin } from './change-message.ts';

/** BranchHead is the last commit of a branch. */
export interface BranchHead {
  readonly commit: string;
  /** Undefined: the commit is not one of ours. */
  readonly origin: ChangeOrigin | undefined;
}

/** PushDecision is what happens to a branch. */
export type PushDecision =
  /** The branch has the changes. */
  | { readonly kind: 'done' }
  /** The branch has commits that are not ours, which must not be lost. */
  | { readonly kind: 'taken' }
  /** The parts before this one are missing, so the branch would have only some of the changes. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'push'; readonly parent: string; readonly expected: string | undefined };

/**
 * decidePush decides how changes of a gateway reach its branch. An agent always sends all its changes since the commit that it has, so
 * new changes replace the older ones of the same gateway; only a further part of the same changes is added to them.
 */
export function decidePush(
  head: BranchHead | undefined,
  owner: string,
  { id, part, commit }: Pick<ChangePart, 'id' | 'part' | 'commit'>,
): PushDecision {
  const isFirst = part === 1;
  if (!head) return isFirst ? { kind: 'push', parent: commit, expected: undefined } : { kind: 'incomplete' };
  const { origin } = head;
  if (origin?.owner !== owner) return { kind: 'taken' };
  const isSame = origin.id === id && origin.commit === commit;
  if (isSame && origin.part >= part) return { kind: 'done' };
  if (isFirst) return { kind: 'push', parent: commit, expected: head.commit };
  const isNext = isSame && origin.part === part - 1;
  return isNext ? { kind: 'push', parent: head.commit, expected: head.commit } : { kind: 'incomplete' };
}
