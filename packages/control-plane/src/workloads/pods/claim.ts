import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { isInvalid, isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { controllerOf } from './pod-state.ts';

/** Claimant is a workload that claims the objects that its selector selects. */
export interface Claimant<O extends KubernetesObject> {
  readonly resource: Resource<O>;
  readonly object: O;
  /** If undefined, nothing is selected. */
  readonly selector: Parameters<typeof labelSelector>[0] | undefined;
}

/**
 * claim returns the candidates that belong to the claimant. It adopts those that it selects and that have no
 * controller, and releases those that it controls and no longer selects.
 */
export async function claim<O extends KubernetesObject, T extends KubernetesObject>(
  live: LiveClient,
  claimant: Claimant<O>,
  resource: Resource<T>,
  candidates: readonly T[],
): Promise<readonly T[]> {
  const { object: owner } = claimant;
  if (claimant.selector === undefined) return [];
  const selector = labelSelector(claimant.selector);
  const isGoing = owner.metadata?.deletionTimestamp !== undefined;
  let mayAdopt: boolean | undefined;
  const claimed: T[] = [];
  for (const each of candidates) {
    const controller = controllerOf(each);
    const isSelected = selector.matches(each.metadata?.labels);
    if (controller) {
      if (controller.uid !== owner.metadata?.uid) continue;
      if (isSelected) claimed.push(each);
      else if (!isGoing) await release(live, resource, each, controller.uid);
      continue;
    }
    if (!isSelected || isGoing || each.metadata?.deletionTimestamp !== undefined) continue;
    // The cached owner may be stale: only an owner that exists and is not being deleted may adopt anything.
    mayAdopt ??= await isAlive(live, claimant);
    if (!mayAdopt) return claimed;
    const adopted = await adopt(live, claimant, resource, each);
    if (adopted) claimed.push(adopted);
  }
  return claimed;
}

async function isAlive<O extends KubernetesObject>(
  live: LiveClient,
  { resource, object }: Claimant<O>,
): Promise<boolean> {
  const found = await live.find(resource, keyOf(object));
  return found?.metadata?.uid === object.metadata?.uid && found?.metadata?.deletionTimestamp === undefined;
}

async function adopt<O extends KubernetesObject, T extends KubernetesObject>(
  live: LiveClient,
  { resource: kind, object: owner }: Claimant<O>,
  resource: Resource<T>,
  object: T,
): Promise<T | undefined> {
  const reference = ownerReference({ resource: kind, object: owner });
  return setOwners(live, resource, object, [...(object.metadata?.ownerReferences ?? []), reference]);
}

async function release<T extends KubernetesObject>(
  live: LiveClient,
  resource: Resource<T>,
  object: T,
  uid: string,
): Promise<void> {
  const owners = (object.metadata?.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
  await setOwners(live, resource, object, owners);
}

/**
 * The list is replaced as a whole, so the patch applies only to the version that was read. Returns undefined if the
 * object is gone.
 */
async function setOwners<T extends KubernetesObject>(
  live: LiveClient,
  resource: Resource<T>,
  object: T,
  owners: readonly object[],
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata ?? {};
  const ownerReferences = owners.length > 0 ? owners : null;
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  try {
    return await live.patch(resource, keyOf(object), { type: 'merge', body });
  } catch (error) {
    // A new object of the same name has another uid, which a patch cannot change.
    if (isNotFound(error) || isInvalid(error)) return undefined;
    throw error;
  }
}
