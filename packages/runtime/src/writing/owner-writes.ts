import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from './describe-object.ts';
import { guardedMerge } from './guarded-merge.ts';
import {
  assertCanOwn,
  type Owner,
  type OwnerReferenceOptions,
  ownerReferencesWith,
  relationTo,
} from './owner-reference.ts';
import type { WriteClient } from './write-client.ts';

/** OwnerWriteOptions configures the write. */
export interface OwnerWriteOptions extends OwnerReferenceOptions {
  readonly fieldManager: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * setOwner gives a stored object a correct reference to its owner: it adds one, or repairs one with an outdated uid. It
 * sends no request when the reference is correct. It returns the object as stored, or undefined when the object is
 * gone.
 */
export async function setOwner<T extends KubernetesObject>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  owner: Owner,
  options: OwnerWriteOptions,
): Promise<T | undefined> {
  assertCanOwn(owner, resource, keyOf(object));
  let confirmed = false;
  return guardedMerge(client, resource, object, options, async (current) => {
    const references = ownerReferencesWith(owner, current, options);
    if (references === (current.metadata?.ownerReferences ?? [])) return undefined;
    if (!confirmed && relationTo(owner, current) === 'stale') await assertIsCurrent(client, owner, options.signal);
    confirmed = true;
    return { metadata: { ownerReferences: references } };
  });
}

/**
 * assertIsCurrent checks with the API server that the owner is still the one that we know. When two uids claim one
 * name, a cache cannot decide which one is older, and a reference to the wrong one makes the garbage collector delete
 * the object.
 */
async function assertIsCurrent(client: WriteClient, owner: Owner, signal?: AbortSignal): Promise<void> {
  const key = keyOf(owner.object);
  const live = await client.find<KubernetesObject>(owner.resource as Resource<KubernetesObject>, key, { signal });
  if (live?.metadata?.uid === owner.object.metadata?.uid) return;
  throw new BowlineError(
    'BOWLINE_OWNER_STALE',
    `${describeKey(owner.resource, key)} was deleted${live ? ' and recreated' : ''} meanwhile, so it cannot become an owner; no action is needed: its events start a new reconcile`,
    { retryable: true },
  );
}
