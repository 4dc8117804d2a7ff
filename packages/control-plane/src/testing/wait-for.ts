import { setTimeout as pause } from 'node:timers/promises';
import { BowlineError } from '@bowline/runtime';

/** The longest wait, in real time: longer than the API server caches its list of kinds. */
const MAX_WAIT_MS = 90_000;
const POLL_INTERVAL_MS = 20;

/**
 * waitFor polls until a condition is true, for conditions that no watch reports. An aborted signal ends it with its
 * reason.
 */
export async function waitFor(what: string, isTrue: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  signal?.throwIfAborted();
  while (!(await isTrue())) {
    signal?.throwIfAborted();
    if (performance.now() - startedAt > MAX_WAIT_MS) {
      throw new BowlineError('BOWLINE_UNTIL_TIMEOUT', `timed out after ${MAX_WAIT_MS} ms waiting for ${what}`);
    }
    await pause(POLL_INTERVAL_MS);
  }
}
