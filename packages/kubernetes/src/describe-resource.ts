/** Scope is whether the objects of a kind are namespaced. */
export type Scope = 'Namespaced' | 'Cluster';

/**
 * Resource names a kind as the API serves it and carries its static type. Callers pass one to select a kind:
 * `client.get(ConfigMap, { namespace, name })`.
 */
export interface Resource<T = unknown, Id extends string = string> {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The lower-case plural in the URL. */
  readonly plural: string;
  readonly scope: Scope;
  /** `Kind.version.group`. It is unique, and it distinguishes two kinds of the same shape in types. */
  readonly id: Id;
  /** Never set: carries `T`. */
  readonly object?: T | undefined;
}

/** ObjectOf is the static type of a resource's objects. */
export type ObjectOf<R extends Resource> = R extends Resource<infer T> ? T : never;

/** ResourceNames holds the names that a caller gives for a kind; `id` is derived from them. */
export interface ResourceNames<Group extends string, Version extends string, Kind extends string>
  extends Pick<Resource, 'plural' | 'scope'> {
  readonly group: Group;
  readonly version: Version;
  readonly kind: Kind;
}

/** ResourceId is the id of a kind: `Kind.version.group`. */
export type ResourceId<
  Group extends string,
  Version extends string,
  Kind extends string,
> = `${Kind}.${Version}.${Group}`;

/**
 * describeResource describes a kind by its names. The built-in kinds are created with it, so it does not depend on
 * their types; callers use `resource`. It copies only the names, because `names` may be another resource with more
 * members.
 */
export function describeResource<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  T = unknown,
>(names: ResourceNames<Group, Version, Kind>): Resource<T, ResourceId<Group, Version, Kind>> {
  const { group, version, kind, plural, scope } = names;
  return Object.freeze({ group, version, kind, plural, scope, id: `${kind}.${version}.${group}` as const });
}
