import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { type Client, isConflict, isKindNotServed, isNotFound } from '@bowline/runtime/client';
import type { ApiKind, ApiKinds } from '../objects/api-kinds.ts';

/** Remaining reports the objects of a kind that are left in a namespace. */
export interface Remaining {
  readonly resource: Resource;
  readonly count: number;
  /** The number of objects that each finalizer blocks. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** ContentOutcome is the result of an attempt to empty a namespace. */
export interface ContentOutcome {
  readonly remaining: readonly Remaining[];
  /** Error messages for users. */
  readonly failures: readonly string[];
}

const MAX_CONCURRENT = 8;
const PAGE_SIZE = 500;

type ContentClient = Pick<Client, 'list' | 'delete' | 'deleteCollection'>;

/** deleteContent deletes everything in a namespace, Pods first: what they use must outlive them. */
export async function deleteContent(
  client: ContentClient,
  namespace: string,
  kinds: ApiKinds,
  signal: AbortSignal,
): Promise<ContentOutcome> {
  const namespaced = kinds.preferred.filter(
    ({ resource, verbs }) => resource.scope === 'Namespaced' && verbs.has('delete') && verbs.has('list'),
  );
  const pods = namespaced.filter(({ resource }) => isPods(resource));
  const first = await deleteKinds(client, namespace, pods, signal);
  if (first.remaining.length > 0 || first.failures.length > 0) return first;
  const others = namespaced.filter(({ resource }) => !isPods(resource));
  return deleteKinds(client, namespace, others, signal);
}

async function deleteKinds(
  client: ContentClient,
  namespace: string,
  kinds: readonly ApiKind[],
  signal: AbortSignal,
): Promise<ContentOutcome> {
  const remaining: Remaining[] = [];
  const failures: string[] = [];
  const failed = await forEachConcurrently(
    kinds,
    MAX_CONCURRENT,
    async (kind) => {
      const left = await deleteKind(client, namespace, kind, signal);
      if (left) remaining.push(left);
    },
    { signal },
  );
  for (const { error } of failed) failures.push(error instanceof Error ? error.message : String(error));
  for (const { resource, finalizers } of remaining) {
    if (finalizers.size > 0) continue;
    failures.push(`unexpected items still remain in namespace: ${namespace} for gvr: ${describe(resource)}`);
  }
  return { remaining: remaining.toSorted((a, b) => byText(nameOf(a.resource), nameOf(b.resource))), failures };
}

async function deleteKind(
  client: ContentClient,
  namespace: string,
  { resource, verbs }: ApiKind,
  signal: AbortSignal,
): Promise<Remaining | undefined> {
  // The descriptor comes from discovery, which has no static type.
  const kind = resource as Resource<KubernetesObject>;
  try {
    const before = await client.list(kind, { namespace, metadataOnly: true, limit: PAGE_SIZE, signal });
    if (before.items.length === 0) return undefined;
    if (verbs.has('deletecollection')) {
      await client.deleteCollection(kind, { namespace, propagationPolicy: 'Background', signal });
    } else {
      await forEachConcurrently(before.items, MAX_CONCURRENT, ({ metadata }) =>
        client.delete(kind, { namespace, name: metadata?.name ?? '' }, { propagationPolicy: 'Background', signal }),
      );
    }
    const after = await client.list(kind, { namespace, metadataOnly: true, limit: PAGE_SIZE, signal });
    if (after.items.length === 0) return undefined;
    const finalizers = new Map<string, number>();
    for (const { metadata } of after.items) {
      for (const each of metadata?.finalizers ?? []) finalizers.set(each, (finalizers.get(each) ?? 0) + 1);
    }
    return { resource, count: after.items.length + (after.metadata.remainingItemCount ?? 0), finalizers };
  } catch (error) {
    // The objects of a kind that is no longer served are gone; a conflict means that another client deletes as well.
    if (isKindNotServed(error) || isNotFound(error)) return undefined;
    if (isConflict(error)) return { resource, count: 1, finalizers: new Map() };
    throw error;
  }
}

/** nameOf returns the usual name of a kind: `pods.`, `deployments.apps`. */
export function nameOf({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

function describe({ group, version, plural }: Resource): string {
  return `${group}/${version}, Resource=${plural}`;
}

function isPods({ group, plural }: Resource): boolean {
  return group === '' && plural === 'pods';
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
