import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { isConflict, isNotFound } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from './describe-object.ts';
import { MAX_ATTEMPTS, type WriteClient } from './write-client.ts';

/**
 * guardedMerge changes a stored object by a merge patch that is valid only for the state it was computed from: it
 * carries uid and resourceVersion. When the object changed meanwhile, it is read again and `change` is called again.
 * Returns the object as it is now; undefined when it is gone, or when another object has its name.
 */
export async function guardedMerge<T extends KubernetesObject>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  options: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined; readonly subresource?: string },
  change: (current: T) => Promise<MergeChange | undefined> | MergeChange | undefined,
): Promise<T | undefined> {
  const key = keyOf(object);
  const { uid, resourceVersion } = object.metadata ?? {};
  if (!uid || !resourceVersion) {
    throw new BowlineError(
      'BOWLINE_WRITE_INVALID',
      `cannot change ${describeKey(resource, key)}: its uid or resourceVersion is missing, so it might be another object; pass the object as the server returned it`,
    );
  }
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const patch = await change(current);
    if (patch === undefined) return current;
    const metadata = { ...patch.metadata, uid, resourceVersion: current.metadata?.resourceVersion };
    try {
      return await client.patch(resource, key, { type: 'merge', body: { ...patch, metadata } }, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
    const live = await client.find(resource, key, { signal: options.signal });
    if (live === undefined || live.metadata?.uid !== uid) return undefined;
    current = live;
  }
}

/** MergeChange is the body of a merge patch. */
export interface MergeChange {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
