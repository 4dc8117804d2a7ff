import { StatusError } from '../status/api-status.ts';
import { keyOf, type RequestContext } from './context.ts';
import type { WriteResult } from './create.ts';

/** How often it is begun anew because the object came or went meanwhile. */
const MOST_ATTEMPTS = 5;

/**
 * createOrUpdate writes an object that may or may not be there. Both ways take time, webhooks included: when somebody else made
 * or deleted the object meanwhile, the other way is the right one.
 */
export async function createOrUpdate(
  context: RequestContext,
  ways: { readonly create: () => Promise<WriteResult>; readonly update: () => Promise<WriteResult> },
): Promise<WriteResult> {
  const isThere = (): boolean => context.storage.get(context.resource.collection, keyOf(context)) !== undefined;
  for (let attempt = 1; ; attempt++) {
    const wasThere = isThere();
    try {
      return await (wasThere ? ways.update() : ways.create());
    } catch (error) {
      const overtaken = wasThere ? 'NotFound' : 'AlreadyExists';
      if (!(error instanceof StatusError) || error.reason !== overtaken) throw error;
      // Webhooks refuse in the same words.
      if (isThere() === wasThere || attempt >= MOST_ATTEMPTS) throw error;
    }
  }
}
