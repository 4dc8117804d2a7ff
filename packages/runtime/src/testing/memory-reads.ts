import { apiVersionOf, type Resource } from '@bowline/kubernetes';
import { type JsonObject, parseFieldSelector, parseLabelSelector } from '@bowline/machinery';
import type { TransportRequest } from '../transport/transport.ts';
import type { MemoryObject, MemoryObjects } from './memory-objects.ts';

/** ReadQuery selects the objects of a list or a watch. */
export interface ReadQuery {
  readonly kind: Resource;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** matches evaluates the selectors. */
  readonly matches: (object: MemoryObject) => boolean;
  readonly metadataOnly: boolean;
}

/** readQuery reads the query of a list or watch request. */
export function readQuery(
  request: TransportRequest,
  url: URL,
  kind: Resource,
  namespace: string | undefined,
): ReadQuery {
  const metadataOnly = request.headers?.accept?.includes('PartialObjectMetadata') ?? false;
  return { kind, namespace, matches: selection(url), metadataOnly };
}

/** listOf returns the response to a list. */
export function listOf(objects: MemoryObjects, query: ReadQuery): object {
  const { kind } = query;
  return {
    apiVersion: apiVersionOf(kind),
    kind: `${kind.kind}List`,
    metadata: { resourceVersion: objects.resourceVersion },
    items: select(objects, query),
  };
}

/** initialEvents returns the events that a WatchList begins with. */
export function initialEvents(objects: MemoryObjects, query: ReadQuery): readonly object[] {
  const { kind } = query;
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const metadata = { resourceVersion: objects.resourceVersion, annotations };
  return [
    ...select(objects, query).map((object) => ({ type: 'ADDED', object })),
    { type: 'BOOKMARK', object: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } },
  ];
}

/** asRequested returns an object, or only its metadata. */
export function asRequested({ metadataOnly }: ReadQuery, object: MemoryObject): object {
  if (!metadataOnly) return object;
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

function select(objects: MemoryObjects, query: ReadQuery): object[] {
  const { kind, namespace, matches } = query;
  return objects
    .all(kind)
    .filter((object) => matches(object) && (namespace === undefined || namespace === object.metadata?.namespace))
    .map((object) => asRequested(query, object));
}

function selection(url: URL): (object: MemoryObject) => boolean {
  const labels = parseLabelSelector(url.searchParams.get('labelSelector') ?? '');
  const fields = parseFieldSelector(url.searchParams.get('fieldSelector') ?? '');
  return (object) =>
    labels.matches(object.metadata?.labels ?? {}) && fields.matches(selectable(fields.requirements, object));
}

/** Returns the values of the fields that a selector names. */
function selectable(
  requirements: readonly { readonly field: string }[],
  object: MemoryObject,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    requirements.map(({ field }) => {
      const value = field.split('.').reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], object);
      return [field, typeof value === 'string' ? value : ''];
    }),
  );
}
