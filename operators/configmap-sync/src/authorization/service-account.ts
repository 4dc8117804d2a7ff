import { type ObjectKey, ServiceAccount } from '@bowline/kubernetes';
import { type AccessReviews, describeAccess, serviceAccountSubject } from '@bowline/runtime/access';
import type { Client } from '@bowline/runtime/client';
import type { Right } from './rights.ts';

/** AccountReviewResult reports whether an account has all rights that a sync needs: the condition `Authorized`. */
export type AccountReviewResult =
  | { readonly granted: true; readonly reason: 'Granted'; readonly message: string }
  | {
      readonly granted: false;
      readonly reason: 'ServiceAccountNotFound' | 'InsufficientPermissions';
      readonly message: string;
      /** The rights that it lacks, or some of them if there are many. */
      readonly missing: readonly Right[];
    };

/** ServiceAccountReview holds the inputs of the review of one account. */
export interface ServiceAccountReview {
  readonly live: Pick<Client, 'find'>;
  readonly reviews: AccessReviews;
  readonly account: ObjectKey;
  readonly rights: readonly Right[];
  /**
   * Rights in namespaces that a selector matches. A user who may impersonate the account may not be allowed to see
   * these namespaces, so no message names them. Defaults to none.
   */
  readonly selected?: readonly Right[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The message for namespaces that a selector matches: the same for any such namespaces, and any number of them. */
const SELECTED_NAMESPACES =
  'create, update and delete configmaps in every namespace that spec.destinationSelector selects';

/** reviewServiceAccount checks whether an account exists and has these rights now. Answers are cached for 30 s. */
export async function reviewServiceAccount(review: ServiceAccountReview): Promise<AccountReviewResult> {
  const { live, reviews, account, rights, selected = [], signal } = review;
  const description = `the ServiceAccount ${account.namespace}/${account.name}`;
  if (!(await live.find(ServiceAccount, account, { signal }))) {
    const message = `${description} does not exist; create it, or correct spec.serviceAccountName`;
    return { granted: false, reason: 'ServiceAccountNotFound', message, missing: [] };
  }
  const missing = await reviews.missing(serviceAccountSubject(account), [...rights, ...selected], { signal });
  if (missing.length === 0) {
    return {
      granted: true,
      reason: 'Granted',
      message: `${description} has all permissions that this ConfigMapSync needs`,
    };
  }
  const unnamed = new Set(selected);
  const named = missing.filter((right) => !unnamed.has(right));
  const lacking = [
    ...(named.length > 0 ? [describeAccess(named)] : []),
    ...(named.length < missing.length ? [SELECTED_NAMESPACES] : []),
  ];
  const message = `${description} lacks permissions: ${lacking.join('; ')}; grant them with RBAC`;
  return { granted: false, reason: 'InsufficientPermissions', message, missing };
}
