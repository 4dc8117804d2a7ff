import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { CHECK_INTERVAL_MS } from './designer-policy.ts';
import type { GatewayClient } from './gateway-client.ts';
import { GatewayError } from './gateway-error.ts';

/** PerspectivePolicyOptions configures how a sync respects Perspective sessions. */
export interface PerspectivePolicyOptions {
  readonly gateway: Pick<GatewayClient, 'perspectiveSessions'>;
  readonly policy: 'graceful' | 'immediate' | 'none';
  /** How long `graceful` waits. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * respectPerspective resolves when a sync may change files, with the number of sessions that remain open. It is
 * undefined if it is not known. Sessions never block a sync for longer than the timeout.
 */
export async function respectPerspective(
  { gateway, policy, timeoutMs, clock, log }: PerspectivePolicyOptions,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (policy === 'none') return undefined;
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const sessions = await openSessions(gateway, log, signal);
    const leftMs = deadline - clock.monotonic();
    if (!sessions || policy === 'immediate' || leftMs <= 0) return sessions;
    await clock.sleep(Math.min(CHECK_INTERVAL_MS, leftMs), signal);
  }
}

async function openSessions(
  gateway: PerspectivePolicyOptions['gateway'],
  log: Log,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await gateway.perspectiveSessions(signal);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    log.warn('cannot list the Perspective sessions of the gateway; the sync continues', { reason: error.message });
    return undefined;
  }
}
