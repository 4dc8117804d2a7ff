import { apiVersionOf } from '@bowline/kubernetes';
import type { ApiResource, Draft } from '../../registry/api-resource.ts';
import type { AdmissionRequest } from '../admission.ts';

/** GroupVersionKind names a kind. */
interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** kindOf returns the kind of the object in a request: the kind of the resource, unless the subresource has its own. */
export function kindOf(resource: ApiResource, subresource: string): GroupVersionKind {
  const part = resource.subresources.get(subresource);
  const { group, version, kind } = part?.creates ?? resource;
  return { group: part?.group ?? group, version: part?.version ?? version, kind: part?.kind ?? kind };
}

/** withType returns the object with apiVersion and kind set, as webhooks and expressions receive it. */
export function withType(kind: GroupVersionKind, object: Draft): Draft {
  const { apiVersion: _, kind: __, ...rest } = object;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...rest };
}

/** requestOf returns the request as webhooks and expressions receive it, in the version of `resource`. */
export function requestOf(request: AdmissionRequest, resource: ApiResource, uid: string): Record<string, unknown> {
  const { subresource, operation, user, name, namespace } = request;
  const kind = kindOf(resource, subresource);
  const { username, uid: userId, groups, extra } = user;
  return {
    uid,
    kind,
    resource: resourceOf(resource),
    subResource: subresource || undefined,
    requestKind: kindOf(request.resource, subresource),
    requestResource: resourceOf(request.resource),
    requestSubResource: subresource || undefined,
    name: name || undefined,
    namespace: namespace || undefined,
    operation,
    userInfo: {
      username: username || undefined,
      uid: userId || undefined,
      groups: groups.length > 0 ? groups : undefined,
      extra: extra && Object.keys(extra).length > 0 ? extra : undefined,
    },
    object: request.object ? withType(kind, request.object) : null,
    oldObject: request.old ? withType(kind, request.old) : null,
    dryRun: request.dryRun,
    options: optionsOf(request),
  };
}

/** optionsOf returns the options of the request; those of a patch become create or update options. */
function optionsOf({ operation, options }: AdmissionRequest): Record<string, unknown> {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return options;
  return { ...options, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', force: undefined };
}

function resourceOf({ group, version, resource }: ApiResource): Record<string, string> {
  return { group, version, resource };
}

/**
 * withProjectedObjects returns a request as webhooks and expressions see it: a request for a subresource of another
 * kind, such as Scale, holds objects of that kind.
 */
export function withProjectedObjects(request: AdmissionRequest): AdmissionRequest {
  const { object, old } = request;
  const projection = projectionOf(request);
  if (!projection) return request;
  return { ...request, object: object && projection.project(object), old: old && projection.project(old) };
}

/** applyChanges copies the changes that were made to the webhook request back to the original request. */
export function applyChanges(request: AdmissionRequest, seen: AdmissionRequest): void {
  if (request !== seen && request.object && seen.object) projectionOf(request)?.applyTo(request.object, seen.object);
}

function projectionOf({ resource, subresource }: AdmissionRequest) {
  return subresource === '' ? undefined : resource.subresources.get(subresource)?.projection;
}
