import type { ObjectKey, Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import type { ListOptions, WatchOptions, WriteOptions } from './client.ts';

/** Query holds the query parameters of a path; undefined values are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** collectionPath returns the path of a kind's objects, in one namespace or all. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const base = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  if (namespace === undefined) return `${base}/${resource.plural}`;
  if (resource.scope === 'Cluster') {
    throw invalid(`${resource.kind} is cluster-scoped: leave out the namespace ${namespace}`);
  }
  return `${base}/namespaces/${segment(namespace, resource, 'namespace')}/${resource.plural}`;
}

/** objectPath returns the path of one object or of its subresource. */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: string): string {
  if (resource.scope === 'Namespaced' && !key.namespace) {
    throw invalid(`${resource.kind} ${key.name} needs a namespace: the kind is namespaced`);
  }
  const path = `${collectionPath(resource, key.namespace || undefined)}/${segment(key.name, resource, 'name')}`;
  if (subresource === undefined) return path;
  // A subresource may contain a path of its own (`proxy/metrics`), but none that leads outside the object.
  if (subresource === '' || /[?#%]|(?:^|\/)\.{0,2}(?:\/|$)/.test(subresource)) {
    throw invalid(`${JSON.stringify(subresource)} is not a valid subresource of ${resource.kind} ${key.name}`);
  }
  return `${path}/${subresource}`;
}

/** Rejects a name that contains a path, which would address another object. */
function segment(value: string, resource: Resource, what: string): string {
  if (value === '' || value === '.' || value === '..' || value.includes('/') || value.includes('%')) {
    throw invalid(`${JSON.stringify(value)} is not a valid ${what} for ${resource.kind}`);
  }
  return encodeURIComponent(value);
}

/** withQuery appends a query to a path. */
export function withQuery(path: string, query: Query): string {
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return path + text;
}

/** listQuery returns the query of a list, or the part of it that a watch shares. */
export function listQuery(options: ListOptions | WatchOptions): Query {
  return {
    labelSelector: options.labelSelector || undefined,
    fieldSelector: options.fieldSelector || undefined,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

/** writeQuery returns the query of a create, update or patch. */
export function writeQuery(options: WriteOptions): Query {
  return {
    dryRun: options.dryRun ? 'All' : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation ?? 'Strict',
  };
}

/** invalid returns the error for an invalid request that is detected before it is sent. */
export function invalid(message: string): BowlineError {
  return new BowlineError('BOWLINE_CLIENT_INVALID_REQUEST', message);
}
