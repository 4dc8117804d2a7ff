import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { parseFieldSelector, parseLabelSelector } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Matcher, matchFields } from './selectors.ts';

/** ScopeOptions says which objects of a kind an informer keeps. */
export interface ScopeOptions {
  /** Watch these namespaces one by one, with rights in each. Defaults to the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** Only objects with such labels, chosen by the server. Defaults to all. */
  readonly labelSelector?: string | undefined;
  /** Only objects with such fields, chosen by the server. Defaults to all. */
  readonly fieldSelector?: string | undefined;
}

/** Scope is ScopeOptions checked and in one canonical form. */
export interface Scope {
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  /** Equal for equal scopes. */
  readonly id: string;
  /** covers says whether a key can be in the scope. */
  covers(key: ObjectKey): boolean;
  /** matches says whether the selectors choose an object. */
  matches: Matcher<KubernetesObject>;
}

/** scopeOf checks a scope against the resource it is for. */
export function scopeOf(resource: Resource, options: ScopeOptions): Scope {
  const namespaces = options.namespaces && [...new Set(options.namespaces)].sort();
  if (namespaces && resource.scope === 'Cluster') {
    throw new BowlineError(
      'BOWLINE_CACHE_SCOPE',
      `cannot watch ${resource.kind} by namespace: the kind is cluster-scoped; leave out namespaces`,
    );
  }
  if (namespaces?.length === 0 || namespaces?.includes('')) {
    throw new BowlineError(
      'BOWLINE_CACHE_SCOPE',
      `cannot watch ${resource.kind} in no namespace: name at least one, or leave out namespaces for all of them`,
    );
  }
  // The canonical text, so that two ways to write one selector share an informer.
  const labels = options.labelSelector ? parseLabelSelector(options.labelSelector) : undefined;
  const fields = options.fieldSelector ? parseFieldSelector(options.fieldSelector) : undefined;
  const labelSelector = labels?.toString();
  const fieldSelector = fields?.toString();
  const matchesFields = fieldSelector === undefined ? undefined : matchFields(fieldSelector);
  return {
    namespaces,
    labelSelector,
    fieldSelector,
    id: JSON.stringify([namespaces ?? null, labelSelector ?? '', fieldSelector ?? '']),
    covers: (key) => namespaces === undefined || namespaces.includes(key.namespace ?? ''),
    matches: (object) => (labels?.matches(object.metadata?.labels) ?? true) && (matchesFields?.(object) ?? true),
  };
}
