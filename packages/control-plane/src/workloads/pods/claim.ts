import {
  type KubernetesObject,
  keyOf,
  keyString,
  type LabelSelector,
  type ObjectKey,
  type Resource,
} from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { isInvalid, isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { controllerOf } from './pod-state.ts';

/** Workload is an object that controls the objects that its selector selects. Without a selector, that is none. */
export interface Workload extends KubernetesObject {
  readonly spec?: { readonly selector?: LabelSelector | undefined } | undefined;
}

/** Claimant is a workload together with its kind. */
export interface Claimant<O extends Workload> {
  readonly resource: Resource<O>;
  readonly object: O;
}

/** claimIndex indexes an object under the uid of its controller, or under the orphans of its namespace. */
export function claimIndex(object: KubernetesObject): readonly string[] {
  return [controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace)];
}

/** claimableBy returns the values of `claimIndex` of the objects that a workload controls or may adopt. */
export function claimableBy({ metadata }: Workload): readonly string[] {
  return [metadata?.uid ?? '', orphansOf(metadata?.namespace)];
}

function orphansOf(namespace: string | undefined): string {
  return `orphans of ${namespace ?? ''}`;
}

/**
 * claimantsOf returns the keys of the workloads of a kind that an object concerns: its controller, or those that would
 * adopt it.
 */
export function claimantsOf(
  object: KubernetesObject,
  kind: string,
  workloads: () => readonly Workload[],
): readonly string[] {
  const controller = controllerOf(object);
  if (!controller) return adoptersOf(object, workloads).map(keyString);
  return controller.kind === kind ? [keyString({ namespace: object.metadata?.namespace, name: controller.name })] : [];
}

/** adoptersOf returns the keys of the workloads that would adopt an object; none if it has a controller. */
export function adoptersOf(object: KubernetesObject, workloads: () => readonly Workload[]): readonly ObjectKey[] {
  if (controllerOf(object)) return [];
  return workloads()
    .filter(({ spec }) => spec?.selector && selectorOf(spec.selector).matches(object.metadata?.labels))
    .map(keyOf);
}

/** Each pod without a controller is compared with all workloads of its namespace, so selectors of cached objects are compiled once. */
const compiled = new WeakMap<object, ReturnType<typeof labelSelector>>();

function selectorOf(selector: LabelSelector): ReturnType<typeof labelSelector> {
  const known = compiled.get(selector);
  if (known) return known;
  const made = labelSelector(selector);
  compiled.set(selector, made);
  return made;
}

/**
 * claim returns the candidates that belong to the claimant. It adopts those that it selects and that have no
 * controller, and releases those that it controls and no longer selects.
 */
export async function claim<O extends Workload, T extends KubernetesObject>(
  live: LiveClient,
  claimant: Claimant<O>,
  resource: Resource<T>,
  candidates: readonly T[],
): Promise<readonly T[]> {
  const { object: owner } = claimant;
  if (owner.spec?.selector === undefined) return [];
  const selector = selectorOf(owner.spec.selector);
  const isTerminating = owner.metadata?.deletionTimestamp !== undefined;
  let mayAdopt: boolean | undefined;
  const claimed: T[] = [];
  for (const each of candidates) {
    const controller = controllerOf(each);
    const isSelected = selector.matches(each.metadata?.labels);
    if (controller) {
      if (controller.uid !== owner.metadata?.uid) continue;
      if (isSelected) claimed.push(each);
      else if (!isTerminating) await release(live, resource, each, controller.uid);
      continue;
    }
    if (!isSelected || isTerminating || each.metadata?.deletionTimestamp !== undefined) continue;
    // The cached owner may be stale: only an owner that exists and is not being deleted may adopt anything.
    mayAdopt ??= await isAlive(live, claimant);
    if (!mayAdopt) return claimed;
    const adopted = await adopt(live, claimant, resource, each);
    if (adopted) claimed.push(adopted);
  }
  return claimed;
}

async function isAlive<O extends Workload>(live: LiveClient, { resource, object }: Claimant<O>): Promise<boolean> {
  const found = await live.find(resource, keyOf(object));
  return found?.metadata?.uid === object.metadata?.uid && found?.metadata?.deletionTimestamp === undefined;
}

async function adopt<O extends Workload, T extends KubernetesObject>(
  live: LiveClient,
  claimant: Claimant<O>,
  resource: Resource<T>,
  object: T,
): Promise<T | undefined> {
  return setOwners(live, resource, object, [...(object.metadata?.ownerReferences ?? []), ownerReference(claimant)]);
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
