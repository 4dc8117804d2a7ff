import { ServiceAccount, SubjectAccessReview } from '@bowline/kubernetes';
import { LocalSubjectAccessReview } from '@bowline/kubernetes/authorization-v1';
import { allow } from '@bowline/runtime';

/** REVIEW_PERMISSIONS is what the operator must be allowed to do to find out what others may do. */
export const REVIEW_PERMISSIONS = [
  allow(['create'], SubjectAccessReview, { only: 'cluster-wide' }),
  allow(['create'], LocalSubjectAccessReview, { only: 'namespaces' }),
  // Whether an account that a ConfigMapSync names exists.
  allow(['get'], ServiceAccount),
] as const;
