import type { KubernetesObject, ObjectMeta, OwnerReference, Resource } from '@bowline/kubernetes';
import { BoundedMap } from '@bowline/machinery';
import { type Client, isConflict, isNotFound } from '@bowline/runtime/client';
import { FOREGROUND, ORPHAN } from '../objects/object-facts.ts';
import type { GraphNode, OwnerGraph } from './owner-graph.ts';

/** CollectorParts holds what the garbage collector works with. */
export interface CollectorParts {
  readonly client: Pick<Client, 'find' | 'patch' | 'delete'>;
  readonly graph: OwnerGraph;
  readonly absent: AbsentOwners;
  readonly find: (apiVersion: string, kind: string) => Resource | undefined;
  /** Enqueues another object. */
  readonly enqueue: (node: GraphNode) => void;
}

/** Owners groups the owners that an object names by their state. */
interface Owners {
  readonly alive: readonly OwnerReference[];
  /** Those that do not exist. */
  readonly gone: readonly OwnerReference[];
  /** Those that wait for the deletion of their dependents. */
  readonly waiting: readonly OwnerReference[];
}

/** reconcile deletes an object that has lost its owners, or continues the deletion of one that has dependents. */
export async function reconcile(node: GraphNode, parts: CollectorParts, signal: AbortSignal): Promise<void> {
  await (node.isOrphaning ? attemptToOrphan(node, parts, signal) : attemptToDelete(node, parts, signal));
}

/**
 * attemptToDelete reads an object from the server, and removes references to lost owners, or deletes the object if no
 * owner is left.
 */
async function attemptToDelete(node: GraphNode, parts: CollectorParts, signal: AbortSignal): Promise<void> {
  const { client, graph } = parts;
  const { resource, uid } = node;
  if (!resource || (node.isDeleting && !node.isForeground)) return;
  const latest = (await client.find(typed(resource), node, { signal }))?.metadata;
  if (latest?.uid !== uid) {
    graph.delete(uid);
    return;
  }
  if (isForeground(latest)) {
    await finishForeground(node, latest, parts, signal);
    return;
  }
  if (latest.deletionTimestamp !== undefined || !latest.ownerReferences?.length) return;
  const owners = await ownersOf(latest, parts, signal);
  if (owners.alive.length > 0) {
    const lost = new Set([...owners.gone, ...owners.waiting].map((reference) => reference.uid));
    if (lost.size > 0)
      await setOwners(client, node, latest, (owner) => (lost.has(owner.uid) ? undefined : owner), signal);
    return;
  }
  if (owners.waiting.length > 0 && node.dependents.size > 0) {
    // Its own dependents may block it for the same reason: a cycle of waiting owners would wait forever.
    if ([...node.dependents].some((dependent) => dependent.isForeground)) {
      const unblock = (owner: OwnerReference): OwnerReference => ({ ...owner, blockOwnerDeletion: false });
      await setOwners(client, node, latest, unblock, signal);
    }
    await remove(client, node, undefined, 'Foreground', signal);
    return;
  }
  await remove(client, node, latest.resourceVersion, policyOf(latest), signal);
}

/** finishForeground releases an owner when no dependent blocks it any more, and enqueues those that do. */
async function finishForeground(
  node: GraphNode,
  latest: ObjectMeta,
  parts: CollectorParts,
  signal: AbortSignal,
): Promise<void> {
  const blocking = [...node.dependents].filter(({ owners }) =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === node.uid && blockOwnerDeletion === true),
  );
  for (const dependent of blocking) if (!dependent.isForeground) parts.enqueue(dependent);
  if (blocking.length === 0) await dropFinalizer(parts.client, node, latest, FOREGROUND, signal);
}

/** attemptToOrphan removes the references to an object from its dependents, and then releases it. */
async function attemptToOrphan(node: GraphNode, parts: CollectorParts, signal: AbortSignal): Promise<void> {
  const { client } = parts;
  const { resource, uid } = node;
  if (!resource) return;
  for (const dependent of [...node.dependents]) {
    if (!dependent.resource) continue;
    const latest = (await client.find(typed(dependent.resource), dependent, { signal }))?.metadata;
    if (latest?.uid !== dependent.uid || !latest.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    await setOwners(client, dependent, latest, (owner) => (owner.uid === uid ? undefined : owner), signal);
  }
  const latest = (await client.find(typed(resource), node, { signal }))?.metadata;
  if (latest?.uid === uid) await dropFinalizer(client, node, latest, ORPHAN, signal);
}

async function ownersOf(object: ObjectMeta, parts: CollectorParts, signal: AbortSignal): Promise<Owners> {
  const alive: OwnerReference[] = [];
  const gone: OwnerReference[] = [];
  const waiting: OwnerReference[] = [];
  for (const reference of object.ownerReferences ?? []) {
    const owner = await findOwner(reference, object.namespace, parts, signal);
    if (owner === undefined) gone.push(reference);
    else if (owner !== 'unknown' && isForeground(owner)) waiting.push(reference);
    else alive.push(reference);
  }
  return { alive, gone, waiting };
}

/** findOwner reads the object that a reference names: by kind, name and namespace, and then compares the uid. */
async function findOwner(
  reference: OwnerReference,
  namespace: string | undefined,
  { client, graph, absent, find }: CollectorParts,
  signal: AbortSignal,
): Promise<ObjectMeta | 'unknown' | undefined> {
  if (absent.has(reference, namespace)) return undefined;
  const resource = find(reference.apiVersion, reference.kind);
  // Not served now, but perhaps later: the owner is unknown, so nothing may be deleted. The object is checked again
  // when new kinds are served.
  if (!resource) return 'unknown';
  // A cluster-scoped object cannot have a namespaced owner: the reference does not name the namespace.
  if (resource.scope === 'Namespaced' && namespace === undefined) return 'unknown';
  const key = { name: reference.name, namespace: resource.scope === 'Namespaced' ? namespace : undefined };
  const owner = (await client.find(typed(resource), key, { signal }))?.metadata;
  const isIt = owner?.uid === reference.uid;
  graph.setObserved(reference.uid, isIt);
  if (isIt) return owner;
  absent.add(reference, namespace);
  return undefined;
}

async function setOwners(
  client: CollectorParts['client'],
  node: GraphNode,
  latest: ObjectMeta,
  change: (owner: OwnerReference) => OwnerReference | undefined,
  signal: AbortSignal,
): Promise<void> {
  const ownerReferences = (latest.ownerReferences ?? []).map(change).filter((owner) => owner !== undefined);
  await patchMetadata(
    client,
    node,
    latest,
    { ownerReferences: ownerReferences.length > 0 ? ownerReferences : null },
    signal,
  );
}

async function dropFinalizer(
  client: CollectorParts['client'],
  node: GraphNode,
  latest: ObjectMeta,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  if (!latest.finalizers?.includes(finalizer)) return;
  const finalizers = latest.finalizers.filter((each) => each !== finalizer);
  await patchMetadata(client, node, latest, { finalizers }, signal);
}

/** Lists are replaced as a whole, so the patch applies only to the version that was read. */
async function patchMetadata(
  client: CollectorParts['client'],
  node: GraphNode,
  { uid, resourceVersion }: ObjectMeta,
  change: object,
  signal: AbortSignal,
): Promise<void> {
  if (!node.resource) return;
  const body = { metadata: { uid, resourceVersion, ...change } };
  await client.patch(typed(node.resource), node, { type: 'merge', body }, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function remove(
  client: CollectorParts['client'],
  node: GraphNode,
  resourceVersion: string | undefined,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  signal: AbortSignal,
): Promise<void> {
  if (!node.resource) return;
  const preconditions = { uid: node.uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  await client
    .delete(typed(node.resource), node, { preconditions, propagationPolicy, signal })
    .catch((error: unknown) => {
      // The object is gone or was replaced. A changed one is retried: its change is an event, but its owners may be the
      // same.
      if (isNotFound(error)) return;
      if (isConflict(error) && resourceVersion === undefined) return;
      throw error;
    });
}

function policyOf({ finalizers = [] }: ObjectMeta): 'Background' | 'Foreground' | 'Orphan' {
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

function isForeground({ deletionTimestamp, finalizers }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && (finalizers?.includes(FOREGROUND) ?? false);
}

/** The descriptor comes from discovery, which has no static type; only metadata is read. */
function typed(resource: Resource): Resource<KubernetesObject> {
  return resource as Resource<KubernetesObject>;
}

/** A deleted owner of many objects is looked up once, not once for each of them. */
const MAX_REMEMBERED = 500;

/**
 * AbsentOwners remembers references to owners that do not exist. A uid is never reused, so an absent owner stays
 * absent.
 */
export class AbsentOwners {
  readonly #known = new BoundedMap<string, true>({ maxEntries: MAX_REMEMBERED });

  has(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#known.get(keyOfReference(reference, namespace)) ?? false;
  }

  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#known.set(keyOfReference(reference, namespace), true);
  }
}

function keyOfReference({ uid, apiVersion, kind, name }: OwnerReference, namespace: string | undefined): string {
  return JSON.stringify([uid, apiVersion, kind, name, namespace]);
}
