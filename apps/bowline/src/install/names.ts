import { type OperatorIdentity, operatorIdentity } from '@bowline/runtime/install';

/** identityOf returns the names that an operator of the suite has in a cluster. */
export function identityOf(operator: string): OperatorIdentity {
  return operatorIdentity({ name: operator, domain: 'bowline.dev' });
}

/** DEFAULT_NAMESPACE is the namespace of an install that names no other. */
export const DEFAULT_NAMESPACE = 'bowline-system';

/**
 * clusterName returns the name of an operator's cluster-scoped objects: roles, webhook configurations. It includes the
 * manager's namespace, so that two installs in one cluster do not collide; the default namespace is left out.
 */
export function clusterName(operator: string, namespace: string): string {
  const { objectName } = identityOf(operator);
  return namespace === DEFAULT_NAMESPACE ? objectName : `${objectName}-${namespace}`;
}
