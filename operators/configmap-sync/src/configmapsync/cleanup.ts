import { slow } from '@bowline/runtime';
import { serviceAccountSubject } from '@bowline/runtime/access';
import { isDeletedOnRelease } from '@bowline/runtime/writing';
import type { Right } from '../authorization/rights.ts';
import type { CopyView } from '../copies/copies.ts';
import { recordKept } from './events.ts';
import { copiesOf, release } from './release.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * cleanUp releases the copies of a ConfigMapSync before it is deleted itself. Copies that are gone are not found again,
 * so it resumes wherever it was stopped.
 */
export async function cleanUp(context: SyncContext): Promise<void> {
  const copies = copiesOf(context);
  const left = await copiesWithoutRights(context, copies);
  const going = copies.filter((copy) => !left.has(copy));
  const problems = await release(context, going, context.object.spec.deletionPolicy);
  if (problems.length > 0) {
    throw slow('CleanupFailed', `failed to remove ${problems.length} copies, will retry; ${problems[0]}`);
  }
  recordKept(context, [...left]);
  context.deps.metrics.forget(context.key);
}

/**
 * copiesWithoutRights returns the copies that the account of the spec may not release any more; without an account,
 * none. They stay as they are, and block nothing. Whether the account still exists does not matter: it may be deleted
 * together with the ConfigMapSync, while its rights elsewhere stay.
 */
async function copiesWithoutRights(context: SyncContext, copies: readonly CopyView[]): Promise<ReadonlySet<CopyView>> {
  const { object, key, deps, signal } = context;
  const { serviceAccountName: name, deletionPolicy } = object.spec;
  if (name === undefined) return new Set();
  const account = { namespace: key.namespace, name };
  const rightOf = (copy: CopyView): Right => ({
    verb: isDeletedOnRelease(copy, { delete: deletionPolicy === 'Delete' }) ? 'delete' : 'update',
    resource: 'configmaps',
    namespace: copy.namespace,
    name: copy.name,
  });
  const needed = new Map(copies.map((copy) => [rightOf(copy), copy]));
  const maxMissing = Number.POSITIVE_INFINITY;
  const missing = await deps.reviews.missing(serviceAccountSubject(account), [...needed.keys()], {
    signal,
    maxMissing,
  });
  return new Set(missing.flatMap((right) => needed.get(right) ?? []));
}
