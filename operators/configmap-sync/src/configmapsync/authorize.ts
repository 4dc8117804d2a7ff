import { keyOf } from '@bowline/kubernetes';
import { AUTHOR_NOT_REVIEWED } from '@bowline/runtime/access';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { authors } from '../authorization/author-review.ts';
import { copyRights, type Right, syncRights } from '../authorization/rights.ts';
import { reviewServiceAccount } from '../authorization/service-account.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { refusal } from './refusal.ts';
import { unwantedCopies } from './release.ts';
import { isNewReason } from './status.ts';
import type { SyncContext } from './sync-controller.ts';
import { YES } from './sync-indexes.ts';

/** refuseUnreviewed ends the run unless a review ensures that the author has the rights that the spec needs. */
export function refuseUnreviewed(context: SyncContext): void {
  const { namespace: name = '' } = keyOf(context.object);
  if (!authors.isTrustedIn(context, name)) throw refusal(context, AUTHOR_NOT_REVIEWED, authors.unreviewed(name));
}

/**
 * isAuthorized reports whether the account that the spec names has all rights that the run needs; without one, the
 * author's rights were reviewed. No event reports changed rights, so a refused account is reviewed again.
 */
export async function isAuthorized(context: SyncContext, targets: readonly Target[]): Promise<boolean> {
  const { object, live, list, status, event, enqueue, deps, signal } = context;
  const { namespace } = keyOf(object);
  const { serviceAccountName: name } = object.spec;
  if (name === undefined) {
    status.removeCondition('Authorized');
    return true;
  }
  const rights: readonly Right[] = [
    ...syncRights(
      object.spec,
      targets.filter((target) => !target.selected),
    ),
    ...unwantedCopies(context, targets).map((copy) => ({
      verb: 'delete' as const,
      resource: 'configmaps' as const,
      namespace: copy.namespace,
      name: copy.name,
    })),
  ];
  const verdict = await reviewServiceAccount({
    live,
    reviews: deps.reviews,
    account: { namespace, name },
    rights,
    selected: targets.filter((target) => target.selected).flatMap(copyRights),
    signal,
  });
  const { granted, reason, message } = verdict;
  status.condition('Authorized', granted, reason, message);
  if (granted) return true;
  if (isNewReason(object, 'Authorized', reason)) {
    event('Warning', 'SyncFailed', message);
    // It closes no cycle any more: a ConfigMapSync that yielded to it may continue.
    for (const waiting of list(ConfigMapSync, { by: { cyclic: YES } })) enqueue(keyOf(waiting));
  }
  status.condition('Ready', false, reason, message);
  status.set({ syncStatus: 'Failed', message });
  return false;
}
