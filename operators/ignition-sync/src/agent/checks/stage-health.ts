import type { Clock } from '@bowline/machinery';
import { codeOf, send } from '../../http/send.ts';

const TIMEOUT_MS = 10_000;
/** The delays between the three attempts. */
const DELAYS_MS: readonly number[] = [2_000, 4_000];

/**
 * checkStageHealth requests the health check of a stage. It returns why the check failed, or undefined if it responded with 200
 * within 10 s in one of three attempts.
 */
export async function checkStageHealth(
  url: string,
  { signal, clock, wire }: { readonly signal: AbortSignal; readonly clock: Clock; readonly wire: Clock },
): Promise<string | undefined> {
  const address = new URL(url);
  for (let attempt = 0; ; attempt++) {
    const problem = await attemptCheck(address, signal, wire);
    const delayMs = DELAYS_MS[attempt];
    if (problem === undefined || delayMs === undefined) return problem;
    await clock.sleep(delayMs, signal);
  }
}

async function attemptCheck(url: URL, signal: AbortSignal, wire: Clock): Promise<string | undefined> {
  try {
    const status = await send({ url, method: 'GET', timeoutMs: TIMEOUT_MS }, async (answer) => answer.status, {
      signal,
      wire,
    });
    return status === 200 ? undefined : `the health check at ${url.host} answered with HTTP status ${status}`;
  } catch (error) {
    signal.throwIfAborted();
    return `the health check at ${url.host} did not answer (${codeOf(error)})`;
  }
}
