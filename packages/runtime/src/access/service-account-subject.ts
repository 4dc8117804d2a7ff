import type { ObjectKey } from '@bowline/kubernetes';
import type { Subject } from '../client/client.ts';

/** serviceAccountSubject returns a ServiceAccount as the subject of an access review. */
export function serviceAccountSubject({ namespace, name }: ObjectKey): Subject {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
