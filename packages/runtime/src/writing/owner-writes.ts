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

/** OwnerWriteOptions says who writes. */
export interface OwnerWriteOptions extends OwnerReferenceOptions {
  readonly fieldManager: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * setOwner gives a stored object a right reference to its owner: adds one, or repairs one with an outdated uid. No request
 * when it has one. Answers the object as stored, or undefined when it is gone.
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
 * assertIsCurrent asks the API server whether the owner is still the one that we know. When two uids claim one name, a
 * cache cannot say which is the older one, and a reference to the wrong one makes the garbage collector delete the object.
 */
async function assertIsCurrent(client: WriteClient, owner: Owner, signal?: AbortSignal): Promise<void> {
  const key = keyOf(owner.object);
  const live = await client.find<KubernetesObject>(owner.resource as Resource<KubernetesObject>, key, { signal });
  if (live?.metadata?.uid === owner.object.metadata?.uid) return;
  throw new BowlineError(
    'BOWLINE_OWNER_STALE',
    `${describeKey(owner.resource, key)} was deleted${live ? ' and made again' : ''} meanwhile, so nothing is given to it; nothing needs to be done: its events start a new reconcile`,
    { retryable: true },
  );
}
