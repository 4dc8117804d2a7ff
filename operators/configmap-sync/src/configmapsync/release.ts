import { keyOf, keyString, Namespace } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Spec } from '../api/config-map-sync.ts';
import { type CopyView, copies } from '../copies/copies.ts';
import { ownerOf, ownerText } from '../copies/ownership.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { recordDeleted } from './events.ts';
import type { SyncFacts } from './status.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * releaseUnwanted releases the copies that are no longer requested. They are determined from the cluster, not from
 * memory: every copy whose labels name the ConfigMapSync, except for the targets.
 */
export async function releaseUnwanted(
  context: SyncContext,
  { targets, isSourceMissing }: { readonly targets: readonly Target[]; readonly isSourceMissing: boolean },
): Promise<SyncFacts['leftovers']> {
  const { deletionPolicy, sourceDeletionPolicy } = context.object.spec;
  const failures = [...(await release(context, unwantedCopies(context, targets), deletionPolicy))];
  if (isSourceMissing && sourceDeletionPolicy === 'Delete') {
    failures.push(...(await release(context, copiesOf(context), 'Delete')));
  }
  const [first] = failures;
  return first === undefined ? undefined : { count: failures.length, message: first };
}

/**
 * unwantedCopies returns the copies of a ConfigMapSync that are not targets. Those in a namespace that is being deleted
 * are left out: they are deleted with it.
 */
export function unwantedCopies(context: SyncContext, targets: readonly Target[]): readonly CopyView[] {
  const wanted = new Set(targets.map(keyString));
  return copiesOf(context).filter((copy) => !wanted.has(keyString(copy)) && !isInTerminatingNamespace(context, copy));
}

function isInTerminatingNamespace({ get, deps }: SyncContext, { namespace }: CopyView): boolean {
  if (deps.namespaces) return false;
  return get(Namespace, { name: namespace })?.metadata.deletionTimestamp !== undefined;
}

/**
 * copiesOf returns the copies that this very ConfigMapSync created or took over: labels outlive it, and any client may
 * write them.
 */
export function copiesOf({ object, list }: SyncContext): readonly CopyView[] {
  const named = list('copies', { by: { owner: ownerText(keyOf(object)) } });
  return named.filter(({ operatorAnnotations }) => operatorAnnotations.syncUid === object.metadata?.uid);
}

/**
 * release releases copies: those that we created are deleted, unless the policy is to keep them; those that existed
 * before get their labels back. A copy that another ConfigMapSync has taken over meanwhile is left unchanged. It
 * returns why some could not be released.
 */
export async function release(
  context: SyncContext,
  unwanted: readonly CopyView[],
  policy: Spec['deletionPolicy'],
): Promise<readonly string[]> {
  if (unwanted.length === 0) return [];
  const { deps, signal } = context;
  const deleted: CopyView[] = [];
  const releaseOne = async (copy: CopyView): Promise<void> => {
    const isStillOurs = ({ labels, operatorAnnotations }: CopyView): boolean =>
      ownerOf(labels) === ownerOf(copy.labels) && operatorAnnotations.syncUid === copy.operatorAnnotations.syncUid;
    const outcome = await context.release(copies, copy, { delete: policy === 'Delete', isStillOurs });
    if (outcome === 'deleted') deleted.push(copy);
  };
  const failures = await forEachConcurrently(unwanted, deps.config.maxWritesInFlight, releaseOne, { signal });
  signal.throwIfAborted();
  recordDeleted(context, deleted);
  return failures.map(({ item, error }) => {
    const problem = error instanceof BowlineError ? error.message : "unexpected error; see the operator's log";
    context.log.warn('failed to release a copy', { copy: keyString(item), error });
    return `${keyString(item)}: ${problem}`;
  });
}
