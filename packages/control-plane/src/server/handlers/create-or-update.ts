import { StatusError } from '../status/api-status.ts';
import { keyOf, type RequestContext } from './context.ts';
import type { WriteResult } from './create.ts';

/** How often the write is restarted because the object was created or deleted meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * createOrUpdate writes an object that may or may not exist. Both operations take time, webhooks included: if another
 * client creates or deletes the object meanwhile, the other operation is tried.
 */
export async function createOrUpdate(
  context: RequestContext,
  writes: { readonly create: () => Promise<WriteResult>; readonly update: () => Promise<WriteResult> },
): Promise<WriteResult> {
  const exists = (): boolean => context.storage.get(context.resource.collection, keyOf(context)) !== undefined;
  for (let attempt = 1; ; attempt++) {
    const existed = exists();
    try {
      return await (existed ? writes.update() : writes.create());
    } catch (error) {
      const conflictReason = existed ? 'NotFound' : 'AlreadyExists';
      if (!(error instanceof StatusError) || error.reason !== conflictReason) throw error;
      // A webhook may refuse with the same reason.
      if (exists() === existed || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
