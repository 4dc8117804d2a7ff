import type { KubernetesObject } from './object.ts';

/** Scope says whether objects of a kind live in a namespace. */
export type Scope = 'Namespaced' | 'Cluster';

/**
 * Resource names a kind as the API serves it and carries its static type. Values of it are how a caller says which kind
 * is meant: `client.get(ConfigMap, { namespace, name })`.
 */
export interface Resource<T = unknown, Id extends string = string> {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The lower-case plural that stands in the URL. */
  readonly plural: string;
  readonly scope: Scope;
  /** `Kind.version.group`: unique, and what tells two kinds of the same shape apart in types. */
  readonly id: Id;
  /** Never set: carries `T`. */
  readonly object?: T | undefined;
}

/** ObjectOf is the static type of a resource's objects. */
export type ObjectOf<R extends Resource> = R extends Resource<infer T> ? T : never;

/** ResourceNames holds what a caller writes about a kind; its `id` follows from it. */
export interface ResourceNames<Group extends string, Version extends string, Kind extends string>
  extends Pick<Resource, 'plural' | 'scope'> {
  readonly group: Group;
  readonly version: Version;
  readonly kind: Kind;
}

/** ResourceId is the id of a kind: `Kind.version.group`. */
type ResourceId<Group extends string, Version extends string, Kind extends string> = `${Kind}.${Version}.${Group}`;

/**
 * resource describes a kind that neither this package nor `defineResource` provides, such as one of another operator.
 * TypeScript infers all type arguments of a call or none, so the type of the objects has a call of its own. The kind is
 * then as distinct as a built-in one: a context refuses it unless the controller declares it.
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
/** Without a type, objects have metadata only; a variable that is declared as `Resource<Certificate, …>` gives it its type. */
export function resource<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  T = KubernetesObject,
>(names: ResourceNames<Group, Version, Kind>): Resource<T, ResourceId<Group, Version, Kind>>;
export function resource(names?: ResourceNames<string, string, string>): unknown {
  return names === undefined ? describe : describe(names);
}

/** Only the names are taken over: they may be those of another resource, with everything that one has. */
function describe({ group, version, kind, plural, scope }: ResourceNames<string, string, string>): Resource {
  return Object.freeze({ group, version, kind, plural, scope, id: `${kind}.${version}.${group}` });
}

/** apiVersionOf is what stands in an object's `apiVersion`: `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** parseApiVersion reverses `apiVersionOf`. */
export function parseApiVersion(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
