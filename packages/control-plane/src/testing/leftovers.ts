import { type KubernetesObject, keyOf, keyString, type Resource } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/core-v1';
import { forEachConcurrently } from '@bowline/machinery';
import { type Client, isConflict, isKindNotServed, isNotFound } from '@bowline/runtime/client';
import { readApiKinds } from '../workloads/objects/api-kinds.ts';
import { CLUSTER_LABEL } from './isolated-client.ts';
import { waitFor } from './wait-for.ts';

/** Contents holds the objects of a control plane at one moment, as `kind namespace/name`. */
export type Contents = ReadonlySet<string>;

type Kind = Resource<KubernetesObject>;

interface Leftover {
  readonly resource: Kind;
  readonly object: KubernetesObject;
}

const MAX_CONCURRENT = 16;

/**
 * Kinds that are not emptied: the definitions of kinds, and objects that the API server itself derives from others or
 * shows in two groups.
 */
const SKIPPED: ReadonlySet<string> = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'ipaddresses.networking.k8s.io',
  'servicecidrs.networking.k8s.io',
  'events.events.k8s.io',
]);

/** Controllers write into these namespaces at any time. */
const SYSTEM_NAMESPACE = /^kube-/;

/** Controllers create these in every namespace, again if they are deleted. */
const IN_EVERY_NAMESPACE = /^(?:serviceaccounts\. \S+\/default|configmaps\. \S+\/kube-root-ca\.crt)$/;

/** readContents returns everything that exists now. */
export async function readContents(admin: Client): Promise<Contents> {
  return new Set((await findObjects(admin, await servedKinds(admin))).map(describe));
}

/**
 * removeLeftovers deletes everything that did not exist in `before`, in namespaces and outside of them, and waits until
 * it is gone. Finalizers are removed, because no controller is left that would do it. Definitions of kinds stay, and so
 * do the namespaces of the test cluster, which are empty then: the real namespace controller takes more than five
 * seconds for each.
 */
export async function removeLeftovers(admin: Client, before: Contents): Promise<void> {
  const kinds = await servedKinds(admin);
  const find = async (selected: readonly Kind[]): Promise<readonly Leftover[]> =>
    (await findObjects(admin, selected)).filter((each) => !before.has(describe(each)) && !isKept(each));
  // Webhooks and policies go first: no process serves the webhooks any more, and both may reject the other requests.
  const admission = kinds.filter(({ group }) => group === 'admissionregistration.k8s.io');
  await removeAll(admin, await find(admission));
  // Until all owners are deleted, a controller may recreate an object.
  for (let left = await find(kinds); left.length > 0; left = await find(kinds)) {
    await removeAll(admin, left);
    const uids = new Set(left.map(({ object }) => object.metadata?.uid));
    const affected = [...new Set(left.map(({ resource }) => resource))];
    await waitFor('the objects that the test left behind to be deleted', async () => {
      const found = await find(affected);
      return !found.some(({ object }) => uids.has(object.metadata?.uid));
    });
  }
}

function isKept(each: Leftover): boolean {
  if (IN_EVERY_NAMESPACE.test(describe(each))) return true;
  return nameOf(each.resource) === 'namespaces.' && each.object.metadata?.labels?.[CLUSTER_LABEL] !== undefined;
}

async function servedKinds(admin: Client): Promise<readonly Kind[]> {
  const { preferred } = await readApiKinds(admin);
  return preferred
    .filter(({ resource, verbs }) => verbs.has('list') && verbs.has('delete') && !SKIPPED.has(nameOf(resource)))
    .map(({ resource }) => resource as Kind);
}

async function findObjects(admin: Client, kinds: readonly Kind[]): Promise<readonly Leftover[]> {
  const found: Leftover[] = [];
  await forEach(kinds, async (resource) => {
    const { items } = await admin.list(resource, { metadataOnly: true }).catch(noneIfNotServed);
    const others = items.filter(({ metadata }) => !SYSTEM_NAMESPACE.test(metadata?.namespace ?? ''));
    found.push(...others.map((object) => ({ resource, object })));
  });
  return found;
}

/** The definition of a kind may have been deleted meanwhile. */
function noneIfNotServed(error: unknown): { readonly items: readonly KubernetesObject[] } {
  if (isKindNotServed(error)) return { items: [] };
  throw error;
}

async function removeAll(admin: Client, left: readonly Leftover[]): Promise<void> {
  const isEvent = ({ resource }: Leftover): boolean => nameOf(resource) === 'events.';
  const withEvents = new Set(left.filter(isEvent).map(({ object }) => object.metadata?.namespace));
  for (const namespace of withEvents) await admin.deleteCollection(Event, { namespace });
  await forEach(
    left.filter((each) => !isEvent(each)),
    (each) => remove(admin, each),
  );
}

async function remove(admin: Client, { resource, object }: Leftover): Promise<void> {
  const { uid = '', finalizers } = object.metadata ?? {};
  const key = keyOf(object);
  const options = { gracePeriodSeconds: 0, propagationPolicy: 'Background', preconditions: { uid } } as const;
  try {
    await admin.delete(resource, key, options);
    if (!finalizers?.length) return;
    await admin.patch(resource, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  } catch (error) {
    // It is gone, or is another object of the same name.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const [failure] = await forEachConcurrently(items, MAX_CONCURRENT, work);
  if (failure) throw failure.error;
}

function nameOf({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

function describe({ resource, object }: Leftover): string {
  return `${nameOf(resource)} ${keyString(keyOf(object))}`;
}
