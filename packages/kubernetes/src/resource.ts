import { describeResource, type Resource, type ResourceId, type ResourceNames } from './describe-resource.ts';
import type { KubernetesObject } from './object.ts';

/**
 * resource describes a kind that neither this package nor `defineResource` provides, for example a kind of another
 * operator. TypeScript infers all type arguments of a call or none, so the object type is passed in a separate call.
 * The result is as distinct as a built-in kind: a context rejects it unless the controller declares it.
 *
 * @example
 * interface Certificate extends KubernetesObject {
 *   readonly spec: { readonly secretName: string };
 * }
 * const Certificate = resource<Certificate>()({
 *   group: 'cert-manager.io',
 *   version: 'v1',
 *   kind: 'Certificate',
 *   plural: 'certificates',
 *   scope: 'Namespaced',
 * });
 */
export function resource<T extends KubernetesObject>(): <
  const Group extends string,
  const Version extends string,
  const Kind extends string,
>(
  names: ResourceNames<Group, Version, Kind>,
) => Resource<T, ResourceId<Group, Version, Kind>>;
/**
 * Without a type, objects have metadata only. Declare a variable as `Resource<Certificate, …>` to set the object type.
 */
export function resource<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  T = KubernetesObject,
>(names: ResourceNames<Group, Version, Kind>): Resource<T, ResourceId<Group, Version, Kind>>;
export function resource(names?: ResourceNames<string, string, string>): unknown {
  return names === undefined ? describeResource : describeResource(names);
}

/** apiVersionOf returns the value of `apiVersion` in objects of a kind: `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** parseApiVersion reverses `apiVersionOf`. */
export function parseApiVersion(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
