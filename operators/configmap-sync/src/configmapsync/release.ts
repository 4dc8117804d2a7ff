import { keyOf, keyString, Namespace } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Spec } from '../api/config-map-sync.ts';
import type { CopyView } from '../copies/copy-view.ts';
import { ownerText } from '../copies/ownership.ts';
import { releaseCopies } from '../copies/release-copies.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { copyLimits, copyTools } from './copy-work.ts';
import { sayDeleted } from './events.ts';
import type { SyncFacts } from './status.ts';
import type { SyncContext } from './watching.ts';

/**
 * releaseUnwanted lets go the copies that nobody asks for any more. Which those are is what the cluster says, not what we
 * remember: every copy whose labels name the ConfigMapSync, but for the targets.
 */
export async function releaseUnwanted(
  context: SyncContext,
  { targets, isSourceGone }: { readonly targets: readonly Target[]; readonly isSourceGone: boolean },
): Promise<SyncFacts['leftovers']> {
  const { deletionPolicy, sourceDeletionPolicy } = context.object.spec;
  const failures = [...(await release(context, unwantedCopies(context, targets), deletionPolicy))];
  if (isSourceGone && sourceDeletionPolicy === 'Delete') {
    failures.push(...(await release(context, copiesOf(context), 'Delete')));
  }
  const [first] = failures;
  return first === undefined ? undefined : { count: failures.length, message: first };
}

/** unwantedCopies are the copies of a ConfigMapSync that are no targets. Those in a namespace that is being deleted go with it. */
export function unwantedCopies(context: SyncContext, targets: readonly Target[]): readonly CopyView[] {
  const wanted = new Set(targets.map(keyString));
  return copiesOf(context).filter((copy) => !wanted.has(keyString(copy)) && !isNamespaceGoing(context, copy));
}

function isNamespaceGoing({ get, deps }: SyncContext, { namespace }: CopyView): boolean {
  if (deps.namespaces) return false;
  return get(Namespace, { name: namespace })?.metadata.deletionTimestamp !== undefined;
}

/** copiesOf are the copies that this very ConfigMapSync made or took over: labels outlive it, and anybody may write them. */
export function copiesOf({ object, list }: SyncContext): readonly CopyView[] {
  const named = list('copies', { by: { owner: ownerText(keyOf(object)) } });
  return named.filter(({ marks }) => marks.syncUid === object.metadata?.uid);
}

/** release lets copies go. Answers why some could not be. */
export async function release(
  context: SyncContext,
  copies: readonly CopyView[],
  policy: Spec['deletionPolicy'],
): Promise<readonly string[]> {
  if (copies.length === 0) return [];
  const { deleted, failures } = await releaseCopies(copyTools(context), copies, policy, copyLimits(context));
  sayDeleted(context, deleted);
  return failures.map(({ item, error }) => {
    const problem = error instanceof BowlineError ? error.message : 'an unexpected error; see the log of the operator';
    context.log.warn('a copy could not be let go', { copy: keyString(item), error });
    return `${keyString(item)}: ${problem}`;
  });
}
