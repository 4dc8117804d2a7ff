import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { parseFieldSelector, parseLabelSelector } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Matcher, matchFields } from './selectors.ts';

/** ScopeOptions selects the objects of a kind that an informer keeps. */
export interface ScopeOptions {
  /** The namespaces to watch, each with its own watch and permissions. Defaults to the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** A label selector, evaluated by the server. Defaults to all objects. */
  readonly labelSelector?: string | undefined;
  /** A field selector, evaluated by the server. Defaults to all objects. */
  readonly fieldSelector?: string | undefined;
}

/** Scope holds validated ScopeOptions in canonical form. */
export interface Scope {
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  /** Equal for equal scopes. */
  readonly id: string;
  /** covers returns whether a key can be in the scope. */
  covers(key: ObjectKey): boolean;
  /** matches returns whether the selectors match an object. */
  matches: Matcher<KubernetesObject>;
}

/** scopeOf validates a scope for a resource. */
export function scopeOf(resource: Resource, options: ScopeOptions): Scope {
  const namespaces = options.namespaces && [...new Set(options.namespaces)].sort();
  if (namespaces && resource.scope === 'Cluster') {
    throw new BowlineError(
      'BOWLINE_CACHE_SCOPE',
      `cannot watch ${resource.kind} by namespace: the kind is cluster-scoped; omit namespaces`,
    );
  }
  if (namespaces?.length === 0 || namespaces?.includes('')) {
    throw new BowlineError(
      'BOWLINE_CACHE_SCOPE',
      `cannot watch ${resource.kind} in an empty list of namespaces: specify at least one, or omit namespaces to watch all of them`,
    );
  }
  // Use the canonical text, so that two spellings of one selector share an informer.
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
