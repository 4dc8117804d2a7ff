import type { Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';

/** VERBS are the verbs of the API, in the order in which rules list them. */
export const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

/** Verb is a verb of the API, or one that is specific to a kind (`approve`, `bind`, `impersonate`, `use`, …). */
export type Verb = (typeof VERBS)[number] | (string & {});

/** OWN_NAMESPACE stands, in `namespaces`, for the namespace that the manager runs in. */
export const OWN_NAMESPACE = '(own)';

/** Permission is the right to do something with the objects of a kind. */
export interface Permission {
  readonly verbs: readonly Verb[];
  readonly group: string;
  /** The plural, as in the URL. */
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Only objects with these names. Undefined: any name. */
  readonly names?: readonly string[] | undefined;
  /** Only in these namespaces. Undefined: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Undefined: unknown. */
  readonly scope?: Resource['scope'] | undefined;
  /** Undefined: regardless of how the manager is installed. */
  readonly only?: AllowOptions['only'];
}

/** AllowOptions narrows a permission. */
export interface AllowOptions {
  /** Only objects with these names. Defaults to any. */
  readonly names?: readonly string[] | undefined;
  /** Only in these namespaces; OWN_NAMESPACE is the manager's. Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
  /** For example `status`, `scale`, `token`. Defaults to the object itself. */
  readonly subresource?: string | undefined;
  /**
   * Only if the manager works in the whole cluster, or only if it is limited to namespaces: an operator may do the same
   * in two ways, such as with SubjectAccessReviews or LocalSubjectAccessReviews. Defaults to both.
   */
  readonly only?: 'cluster-wide' | 'namespaces' | undefined;
}

/** Verbs that the API server authorizes without knowing the object's name. */
const NAMELESS: ReadonlySet<string> = new Set(['create', 'deletecollection']);

/**
 * allow declares a permission of an operator in addition to those that its controllers' declarations imply.
 *
 * @example
 * defineOperator({ name: 'pages', domain: 'bowline.dev', controllers: [pages], permissions: [allow(['get'], Secret, {
 * names: ['page-key'] })] });
 */
export function allow(verbs: readonly Verb[], kind: Resource, options: AllowOptions = {}): Permission {
  const { names, namespaces, subresource } = options;
  const refuse = (problem: string): never => {
    throw new BowlineError(
      'BOWLINE_PERMISSION_INVALID',
      `cannot allow ${verbs.join(', ') || 'nothing'} on ${kind.kind}: ${problem}`,
    );
  };
  if (verbs.length === 0) refuse('list at least one verb');
  const words = [
    ...verbs,
    ...(names ?? []),
    ...(namespaces ?? []),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  if (words.some((word) => word.includes('*'))) refuse('wildcards are not supported; list each value');
  if (subresource?.includes('/')) {
    refuse('a subresource is a single path segment; RBAC does not authorize paths below it');
  }
  if (words.includes('')) refuse('a verb, name, namespace or subresource is empty');
  if (names?.length === 0) refuse('names is empty; omit it to allow any name');
  if (namespaces?.length === 0) refuse('namespaces is empty; omit it to allow all namespaces');
  if (namespaces && kind.scope === 'Cluster') refuse('the kind is cluster-scoped; omit namespaces');
  const nameless = verbs.find((verb) => NAMELESS.has(verb));
  if (names && nameless && subresource === undefined) {
    refuse(`the API server authorizes ${nameless} without knowing the name; allow it separately, without names`);
  }
  return permission(verbs, kind, options);
}

/** permission is `allow` without checks, for declarations that are correct by construction. */
export function permission(verbs: readonly Verb[], kind: Resource, options: AllowOptions = {}): Permission {
  const { names, namespaces, subresource, only } = options;
  return { verbs, group: kind.group, resource: kind.plural, subresource, names, namespaces, scope: kind.scope, only };
}

/** inOwnNamespace returns a permission with OWN_NAMESPACE replaced by the namespace that it stands for. */
export function inOwnNamespace(permission: Permission, own: string): Permission {
  const namespaces = permission.namespaces?.map((name) => (name === OWN_NAMESPACE ? own : name));
  return { ...permission, namespaces };
}
