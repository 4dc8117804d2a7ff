import {
  apiVersionOf,
  type KubernetesObject,
  type ParamKind,
  type ParamRef,
  parseApiVersion,
} from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Storage } from '../../storage/storage.ts';
import { keyIn, objectOf, type Stored } from '../../storage/stored.ts';

/** PolicyProblem reports that a policy or binding cannot be evaluated; its failure policy decides. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem';
}

/** findParamKind returns the resource of a kind of parameters, or undefined if it is not served. */
export function findParamKind(registry: Registry, { apiVersion = '', kind = '' }: ParamKind): ApiResource | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  return registry.findKind(group, version, kind);
}

/** paramResource returns the resource of the parameters of a policy, or undefined if it has none. */
export function paramResource(registry: Registry, paramKind: ParamKind | undefined): ApiResource | undefined {
  if (!paramKind) return undefined;
  const resource = findParamKind(registry, paramKind);
  if (resource) return resource;
  const { group, version } = parseApiVersion(paramKind.apiVersion ?? '');
  const kind = `${group}/${version}, Kind=${paramKind.kind}`;
  throw new PolicyProblem(`failed to find resource referenced by paramKind: '${kind}'`);
}

/**
 * paramsFor returns the objects with which a binding evaluates its policy, one after the other. It is [null] for a
 * policy or binding without parameters.
 */
export function paramsFor(
  storage: Storage,
  resource: ApiResource | undefined,
  paramRef: ParamRef | undefined,
  requestNamespace: string,
): readonly (KubernetesObject | null)[] {
  if (!resource || !paramRef) return [null];
  const params = Array.from(selectParams(storage, resource, paramRef, requestNamespace), (stored) =>
    paramOf(resource, stored),
  );
  if (params.length === 0 && paramRef.parameterNotFoundAction === 'Deny')
    throw new PolicyProblem('no params found for policy binding with `Deny` parameterNotFoundAction');
  return params;
}

function selectParams(
  storage: Storage,
  { scope, collection }: ApiResource,
  { name = '', namespace: ownNamespace = '', selector }: ParamRef,
  requestNamespace: string,
): Iterable<Stored> {
  const isNamespaced = scope === 'Namespaced';
  if (!isNamespaced && ownNamespace !== '')
    throw new PolicyProblem('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const namespace = isNamespaced ? ownNamespace || requestNamespace : '';
  if (isNamespaced && namespace === '')
    throw new PolicyProblem('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  if (name !== '') {
    const stored = storage.get(collection, keyIn(namespace, name));
    return stored ? [stored] : [];
  }
  const labels = labelSelector(selector ?? {});
  const selected = storage.select(collection, isNamespaced ? { namespace } : {});
  return Array.from(selected).filter((stored) => labels.matches(stored.labels));
}

function paramOf(resource: ApiResource, stored: Stored): KubernetesObject {
  const view = resource.viewOf?.(stored) ?? stored;
  return { ...objectOf(view), apiVersion: apiVersionOf(resource), kind: resource.kind };
}
