import { operatorIdentity } from '@bowline/runtime/install';
import type { HSMSecret } from '../api/hsm-secret.ts';
import { OPERATOR } from '../api/names.ts';

/** ParentRef names a Deployment of this operator. */
export interface ParentRef {
  readonly name: string;
  readonly namespace: string;
}

/** The Deployment of all operators together; the other form of an install has one for each operator. */
const SHARED_DEPLOYMENT = 'bowline';

/** ownDeployments returns the names that the manager's own Deployment may have. */
export function ownDeployments(managerNamespace: string): readonly ParentRef[] {
  return [SHARED_DEPLOYMENT, operatorIdentity(OPERATOR).objectName].map((name) => ({
    name,
    namespace: managerNamespace,
  }));
}

/** belongsTo reports whether an HSMSecret names one of these parents, or none. */
export function belongsTo({ metadata, spec }: HSMSecret, parents: readonly ParentRef[]): boolean {
  const { parentRef } = spec;
  if (parentRef === undefined) return true;
  if (parentRef.group !== 'apps' || parentRef.kind !== 'Deployment') return false;
  const namespace = parentRef.namespace ?? metadata?.namespace;
  return parents.some((parent) => parent.name === parentRef.name && parent.namespace === namespace);
}
