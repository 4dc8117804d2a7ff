import { ServiceAccount } from '@bowline/kubernetes';
import { allow } from '@bowline/runtime';
import { REVIEW_PERMISSIONS } from '@bowline/runtime/access';

/** PERMISSIONS are the permissions that the operator needs to review the rights of others. */
export const PERMISSIONS = [
  ...REVIEW_PERMISSIONS,
  // To check whether the ServiceAccount that a ConfigMapSync names exists.
  allow(['get'], ServiceAccount),
] as const;
