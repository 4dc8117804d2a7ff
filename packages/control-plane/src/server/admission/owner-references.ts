import { type OwnerReference, parseApiVersion } from '@bowline/kubernetes';
import { canonicalJson, quoteText } from '@bowline/machinery';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { refuse } from './admission.ts';

/**
 * ownerReferences prevents users from deleting, by way of the garbage collector, objects that they may not delete, and
 * from blocking the deletion of owners whose finalizers they may not set.
 */
export function ownerReferences(authorizer: Authorizer, registry: Registry): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate(request) {
      const { operation, resource, subresource, object, old } = request;
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return;
      // A status update cannot change the owners of a Pod, and old kubelets send wrong ones.
      if (resource.resource === 'pods' && resource.group === '' && subresource === 'status') return;
      if (canonicalJson(ownersOf(object)) === canonicalJson(ownersOf(old))) return;
      checkReferences(authorizer, registry, request, object);
    },
  };
}

function checkReferences(authorizer: Authorizer, registry: Registry, request: AdmissionRequest, object: Draft): void {
  const { operation, resource, subresource, namespace, name, user, old } = request;
  const { group } = resource;
  if (operation !== 'CREATE') {
    const deletion = { isResource: true, verb: 'delete', group, resource: resource.resource, subresource } as const;
    const { allowed, reason } = authorizer.authorize(user, { ...deletion, namespace, name });
    if (!allowed) throw refuse(request, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
  }
  for (const reference of newBlocking(ownersOf(object), ownersOf(old))) {
    const owner = resourceOf(registry, reference);
    if (!owner) {
      const { apiVersion, kind } = reference;
      const what = `APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${quoteText(kind)} in version ${quoteText(apiVersion)}`;
      throw refuse(request, `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ${what}`);
    }
    const { allowed, reason } = authorizer.authorize(user, finalizersOf(owner, reference, namespace));
    if (!allowed) {
      throw refuse(
        request,
        `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`,
      );
    }
  }
}

function finalizersOf(owner: ApiResource, { name }: OwnerReference, namespace: string): ResourceAttributes {
  const { group, resource, scope } = owner;
  const where = scope === 'Namespaced' ? namespace : '';
  return { isResource: true, verb: 'update', group, resource, subresource: 'finalizers', namespace: where, name };
}

/** newBlocking returns the references that block the deletion of their owner now and did not before. */
function newBlocking(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid));
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !blocked.has(uid));
}

function resourceOf(registry: Registry, { apiVersion, kind }: OwnerReference): ApiResource | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  return registry.findKind(group, version, kind);
}

function ownersOf(object: Draft | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}
