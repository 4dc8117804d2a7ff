import { setTimeout as pause } from 'node:timers/promises';
import { BowlineError } from '@bowline/runtime';

/** How long a wait of the rig may take, in real time: longer than the API server keeps its idea of what kinds there are. */
const LONGEST_WAIT_MS = 45_000;
const BETWEEN_LOOKS_MS = 20;

/** waitFor looks until something is true, for what no watch can tell. An aborted signal ends it with its reason. */
export async function waitFor(what: string, isTrue: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  signal?.throwIfAborted();
  while (!(await isTrue())) {
    signal?.throwIfAborted();
    if (performance.now() - startedAt > LONGEST_WAIT_MS) {
      throw new BowlineError('BOWLINE_UNTIL_TIMEOUT', `waited ${LONGEST_WAIT_MS} ms for ${what}`);
    }
    await pause(BETWEEN_LOOKS_MS);
  }
}
