import { SubjectAccessReview } from '@bowline/kubernetes';
import { LocalSubjectAccessReview } from '@bowline/kubernetes/authorization-v1';
import { allow, type Permission } from '../permissions/permission.ts';

/** REVIEW_PERMISSIONS are the permissions that an operator needs for AccessReviews, in the whole cluster or in namespaces. */
export const REVIEW_PERMISSIONS: readonly Permission[] = [
  allow(['create'], SubjectAccessReview, { only: 'cluster-wide' }),
  allow(['create'], LocalSubjectAccessReview, { only: 'namespaces' }),
];
