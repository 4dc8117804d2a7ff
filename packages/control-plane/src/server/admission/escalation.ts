import type { ClusterRole, PolicyRule, RoleBinding } from '@bowline/kubernetes';
import { canonicalJson, quoteText } from '@bowline/machinery';
import { MASTERS } from '../authentication/user-info.ts';
import { ANY, rulesIn } from '../authorization/policy-rule.ts';
import type { RbacAuthorizer } from '../authorization/rbac-authorizer.ts';
import { RBAC_GROUP, type RbacIndex, roleReference } from '../authorization/rbac-index.ts';
import { describeRights, missingRights, wordsText } from '../authorization/rule-coverage.ts';
import type { Draft } from '../registry/api-resource.ts';
import { forbidden, notFound, StatusError } from '../status/api-status.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';

/** Rules that only a user with all rights holds. */
const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: [ANY], resources: [ANY], verbs: [ANY] },
  { nonResourceURLs: [ANY], verbs: [ANY] },
];

/**
 * refuseEscalation prevents users from granting, in a role or by a binding, rights that they do not hold themselves,
 * unless they may `escalate` or `bind` the role. It checks the object that will be stored, after all mutations.
 */
export function refuseEscalation(authorizer: RbacAuthorizer, index: RbacIndex): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    validate(request) {
      const { resource, subresource, operation, object, old, user } = request;
      if (resource.group !== RBAC_GROUP || subresource !== '' || !object) return;
      if (operation !== 'CREATE' && operation !== 'UPDATE') return;
      if (user.groups.includes(MASTERS)) return;
      // A user who may delete the object can thus also remove its finalizers.
      if (old && essence(object) === essence(old)) return;
      switch (resource.resource) {
        case 'roles':
        case 'clusterroles':
          return checkRole(authorizer, request, object);
        case 'rolebindings':
        case 'clusterrolebindings':
          return checkBinding(authorizer, index, request, object);
        default:
      }
    },
  };
}

function checkRole(authorizer: RbacAuthorizer, request: AdmissionRequest, object: Draft): void {
  const { resource, operation, name, namespace, user, old } = request;
  const { group } = resource;
  const attributes = { isResource: true, group, resource: resource.resource, subresource: '', namespace } as const;
  // The path of a create request names no object: a right to escalate roles of certain names does not cover it.
  const named = operation === 'CREATE' ? '' : name;
  if (authorizer.authorize(user, { ...attributes, verb: 'escalate', name: named }).allowed) return;
  const problem = problemWith(authorizer, request, rulesIn(object));
  if (problem) throw refused(request, object, problem);
  const aggregates = [object, old].some((each) => each && (each as ClusterRole).aggregationRule !== undefined);
  if (aggregates && problemWith(authorizer, request, EVERYTHING)) {
    throw refused(request, object, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

function checkBinding(authorizer: RbacAuthorizer, index: RbacIndex, request: AdmissionRequest, object: Draft): void {
  const { resource, namespace, user } = request;
  // Every object in this collection was decoded as a binding.
  const { kind = '', name = '' } = (object as Partial<RoleBinding>).roleRef ?? {};
  if (kind !== 'Role' && kind !== 'ClusterRole')
    throw new StatusError(500, undefined, `unsupported role reference kind: ${quoteText(kind)}`);
  const role = kind === 'Role' ? 'roles' : 'clusterroles';
  const attributes = { isResource: true, group: RBAC_GROUP, resource: role, subresource: '', namespace, name } as const;
  if (authorizer.authorize(user, { ...attributes, verb: 'bind' }).allowed) return;
  const rules = index.rulesOf(roleReference(kind, name, namespace));
  if (!rules) throw notFound(resource, name);
  const problem = problemWith(
    authorizer,
    request,
    rules.map(({ rule }) => rule),
  );
  if (problem) throw refused(request, object, problem);
}

/** problemWith reports which of the rules the user does not hold in the namespace of the object. */
function problemWith(
  authorizer: RbacAuthorizer,
  { user, namespace }: AdmissionRequest,
  wanted: readonly PolicyRule[],
): string | undefined {
  const { compiled, problems } = authorizer.heldBy(user, namespace);
  const missing = missingRights(compiled, wanted);
  if (missing?.length === 0) return undefined;
  const who = `user ${quoteText(user.username)} (groups=${wordsText(user.groups)})`;
  const what = missing
    ? describeRights(missing)
    : 'there are too many rules to compare; split the role into smaller roles';
  const unknown = problems.length === 0 ? '' : `; resolution errors: [${problems.join(' ')}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${what}${unknown}`;
}

function refused({ resource }: AdmissionRequest, { metadata }: Draft, why: string): StatusError {
  return forbidden(resource, metadata.name ?? '', why);
}

/** essence returns the object as text without the fields that garbage collection and field tracking change. */
function essence(object: Draft): string {
  const { metadata } = object;
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _fields,
    resourceVersion: _,
    ...others
  } = metadata;
  return canonicalJson({ ...object, apiVersion: undefined, kind: undefined, metadata: others });
}
