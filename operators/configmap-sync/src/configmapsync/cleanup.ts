import { slow } from '@bowline/runtime';
import { releaseAll } from './release.ts';
import type { SyncContext } from './watching.ts';

/**
 * cleanUp lets the copies of a ConfigMapSync go before it goes itself. Copies that are gone are not found again, so that it goes
 * on wherever it was stopped.
 */
export async function cleanUp(context: SyncContext): Promise<void> {
  const problems = await releaseAll(context);
  if (problems.length > 0) {
    throw slow('CleanupFailed', `${problems.length} copies could not be removed; ${problems[0]}`);
  }
  context.deps.metrics.forget(context.key);
}
