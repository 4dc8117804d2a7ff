import { ConfigMap } from '@bowline/kubernetes';
import { forEachConcurrently, type ItemFailure } from '@bowline/machinery';
import { isConflict, isNotFound } from '@bowline/runtime';
import type { Spec } from '../api/config-map-sync.ts';
import { stripPatch } from './copy-bodies.ts';
import type { CopyTools } from './copy-requests.ts';
import { type CopyView, viewOf } from './copy-view.ts';
import { ownerOf } from './ownership.ts';
import type { WriteCopiesOptions } from './write-copies.ts';

/** Released is what became of copies that are no longer wanted. */
export interface Released {
  /** Those that were deleted. Others lost our marks and stay. */
  readonly deleted: readonly CopyView[];
  readonly failures: readonly ItemFailure<CopyView>[];
}

/** How often a copy is looked at again because it changed meanwhile. */
const MOST_ATTEMPTS = 4;

/**
 * releaseCopies lets copies go: those that we made are deleted, unless the policy is to leave them; those that were there before
 * are given back. A copy that another ConfigMapSync has taken meanwhile is left alone.
 */
export async function releaseCopies(
  tools: CopyTools,
  copies: readonly CopyView[],
  policy: Spec['deletionPolicy'],
  { limit, signal }: WriteCopiesOptions,
): Promise<Released> {
  const deleted: CopyView[] = [];
  const failures = await forEachConcurrently(
    copies,
    limit,
    async (copy) => {
      if (await release(tools, copy, policy)) deleted.push(copy);
    },
    { signal },
  );
  signal.throwIfAborted();
  return { deleted, failures };
}

/** isDeletedBy says whether a copy that is let go is deleted, or loses our marks and stays. */
export function isDeletedBy(policy: Spec['deletionPolicy'], { marks }: CopyView): boolean {
  return policy === 'Delete' && !marks.isAdopted;
}

/** Answers whether the copy was deleted by us. */
async function release(tools: CopyTools, first: CopyView, policy: Spec['deletionPolicy']): Promise<boolean> {
  const { client, fieldManager } = tools;
  const { namespace, name } = first;
  let copy = first;
  for (let attempt = 1; ; attempt++) {
    const { uid, resourceVersion, isTerminating } = copy;
    const isDeleted = isDeletedBy(policy, copy);
    if (isDeleted && isTerminating) return false;
    try {
      if (isDeleted) await client.delete(ConfigMap, { namespace, name }, { preconditions: { uid, resourceVersion } });
      else
        await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: stripPatch(copy) }, { fieldManager });
      return isDeleted;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt >= MOST_ATTEMPTS) throw error;
    }
    const live = await client.find(ConfigMap, { namespace, name });
    const next = live && viewOf(live);
    if (next?.uid !== first.uid || ownerOf(next.labels) !== ownerOf(first.labels)) return false;
    if (next.marks.syncUid !== first.marks.syncUid) return false;
    copy = next;
  }
}
