import { ConfigMap, Secret, SubjectAccessReview, TokenReview } from '@bowline/kubernetes';
import { allow, OWN_NAMESPACE, type Permission } from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { API_CONFIG_MAP } from './api-location.ts';

/** apiPermissions returns what the manager needs to serve the API. */
export function apiPermissions(): readonly Permission[] {
  const own = { namespaces: [OWN_NAMESPACE] };
  return [
    // Reviews are cluster-scoped. An install that is limited to namespaces does not serve the API.
    allow(['create'], TokenReview, { only: 'cluster-wide' }),
    allow(['create'], SubjectAccessReview, { only: 'cluster-wide' }),
    allow(['get', 'list'], HSMDevice),
    allow(['get'], HSMPool),
    // Changes of the PIN.
    allow(['get', 'patch'], Secret),
    allow(['get', 'patch'], ConfigMap, { ...own, names: [API_CONFIG_MAP] }),
    // RBAC cannot restrict a create to a name.
    allow(['create'], ConfigMap, own),
  ];
}
