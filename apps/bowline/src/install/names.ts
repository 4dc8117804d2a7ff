import { type OperatorIdentity, operatorIdentity } from '@bowline/runtime/install';

/** identityOf is what an operator of the suite is called in a cluster. */
export function identityOf(operator: string): OperatorIdentity {
  return operatorIdentity({ name: operator, domain: 'bowline.dev' });
}

/** DEFAULT_NAMESPACE is where an install is that names no other namespace. */
export const DEFAULT_NAMESPACE = 'bowline-system';

/**
 * clusterName is the name of what an install has of an operator outside namespaces: roles, webhook configurations. The manager's
 * namespace is part of it, so that two installs in one cluster do not take each other's; the usual one is left out.
 */
export function clusterName(operator: string, namespace: string): string {
  const { objectName } = identityOf(operator);
  return namespace === DEFAULT_NAMESPACE ? objectName : `${objectName}-${namespace}`;
}
