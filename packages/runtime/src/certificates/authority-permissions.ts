import { Secret } from '@bowline/kubernetes';
import { allow, OWN_NAMESPACE, type Permission } from '../permissions/permission.ts';

/** authorityPermissions returns what a CertificateAuthority needs for its Secret in the manager's namespace. */
export function authorityPermissions(secretName: string): readonly Permission[] {
  const namespaces = [OWN_NAMESPACE];
  return [
    allow(['get', 'list', 'watch', 'update'], Secret, { names: [secretName], namespaces }),
    // RBAC cannot restrict a create to a name, because the name is in the body.
    allow(['create'], Secret, { namespaces }),
  ];
}
