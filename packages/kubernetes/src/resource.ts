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
  readonly object?: T;
}

/** ObjectOf is the static type of a resource's objects. */
export type ObjectOf<R extends Resource> = R extends Resource<infer T> ? T : never;

/** resource makes a descriptor; `id` follows from the names. */
export function resource<T, const Id extends string = string>(names: Omit<Resource<T, Id>, 'object'>): Resource<T, Id> {
  return Object.freeze({ ...names });
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
