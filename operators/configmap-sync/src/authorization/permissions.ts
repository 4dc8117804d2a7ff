import { ServiceAccount, SubjectAccessReview } from '@bowline/kubernetes';
import { LocalSubjectAccessReview } from '@bowline/kubernetes/authorization-v1';
import { allow } from '@bowline/runtime';

/** REVIEW_PERMISSIONS are the permissions that the operator needs to review the rights of others. */
export const REVIEW_PERMISSIONS = [
  allow(['create'], SubjectAccessReview, { only: 'cluster-wide' }),
  allow(['create'], LocalSubjectAccessReview, { only: 'namespaces' }),
  // To check whether the ServiceAccount that a ConfigMapSync names exists.
  allow(['get'], ServiceAccount),
] as const;
