import type { KubernetesObject, ObjectKey, Resource, Status } from '@bowline/kubernetes';
import type { DeleteOptions } from '../client/client.ts';
import { isConflict, isNotFound } from '../errors/api-error.ts';
import { isStatus, stillExists } from './deletion.ts';
import { type CachedObject, type Lookup, MAX_ATTEMPTS, type WriteClient } from './write-client.ts';

/** RemoveResult is the result of a removal. */
export interface RemoveResult {
  /**
   * - `deleted`: a request removed the object;
   * - `terminating`: it is being deleted, by us or by another client, and waits for finalizers or its grace period;
   * - `absent`: it was gone already, or another object has its name now;
   * - `foreign`: it is not ours and was not touched.
   */
  readonly outcome: 'deleted' | 'terminating' | 'absent' | 'foreign';
  /** The metadata of the object, if it still exists. */
  readonly metadata?: NonNullable<KubernetesObject['metadata']> | undefined;
}

/** DeletePlan is one removal, complete except for the stored state. */
export interface DeletePlan<T extends KubernetesObject>
  extends Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds'> {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  readonly isOurs: (object: KubernetesObject) => boolean;
  /** Delete only the object with this uid. Defaults to the object that is found first. */
  readonly uid: string | undefined;
}

/** DeleteTools holds what the removals of one writer share. */
export interface DeleteTools {
  readonly client: WriteClient;
  readonly lookup: Lookup | undefined;
  readonly signal: AbortSignal | undefined;
}

/** guardedDelete removes one object if it is ours, in exactly the state in which it was found to be ours. */
export async function guardedDelete<T extends KubernetesObject>(
  tools: DeleteTools,
  plan: DeletePlan<T>,
): Promise<RemoveResult> {
  const { client, signal } = tools;
  const { resource, key, propagationPolicy = 'Background', gracePeriodSeconds } = plan;
  const cached = tools.lookup?.(resource, key);
  let object: KubernetesObject | undefined =
    cached && isSufficient(cached, plan) ? cached.object : await client.find(resource, key, { signal });
  const uid = plan.uid ?? object?.metadata?.uid;
  for (let attempt = 1; ; attempt++) {
    const { metadata } = object ?? {};
    if (!object || !metadata || metadata.uid !== uid) return { outcome: 'absent' };
    if (!plan.isOurs(object)) return { outcome: 'foreign', metadata };
    if (metadata.deletionTimestamp !== undefined) return { outcome: 'terminating', metadata };
    try {
      const response = await client.delete(resource, key, {
        preconditions: { uid: uid ?? '', resourceVersion: metadata.resourceVersion ?? '' },
        propagationPolicy,
        gracePeriodSeconds,
        signal,
      });
      return resultOf(response);
    } catch (error) {
      if (isNotFound(error)) return { outcome: 'absent' };
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
    object = await client.find(resource, key, { signal });
  }
}

/**
 * The cache may be stale or hold too little to decide: it counts only if it shows the object as ours, or as missing
 * when the caller names no uid.
 */
function isSufficient({ object }: CachedObject, plan: DeletePlan<KubernetesObject>): boolean {
  if (object === undefined) return plan.uid === undefined;
  const { uid } = object.metadata ?? {};
  return uid !== undefined && uid === (plan.uid ?? uid) && plan.isOurs(object);
}

function resultOf(response: KubernetesObject | Status): RemoveResult {
  if (isStatus(response) || !stillExists(response)) return { outcome: 'deleted' };
  return { outcome: 'terminating', metadata: response.metadata };
}
