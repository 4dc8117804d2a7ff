import { BowlineError, type Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { GatewayClient } from './gateway-client.ts';
import { GatewayError } from './gateway-error.ts';
import type { DesignerSession } from './gateway-lists.ts';

/** AffectedProjects are the projects that a sync changes. */
export interface AffectedProjects {
  readonly projects: ReadonlySet<string>;
  /** Whether tags or types change, which every project uses. */
  readonly hasSharedChanges: boolean;
}

/** DesignerPolicyOptions configures how a sync respects Designers. */
export interface DesignerPolicyOptions {
  readonly gateway: Pick<GatewayClient, 'designers'>;
  readonly policy: 'wait' | 'proceed' | 'fail';
  /** How long `wait` waits. */
  readonly timeoutMs: number;
  readonly affected: AffectedProjects;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the number of sessions when a sync starts to wait, and when the number changes. Defaults to nothing. */
  readonly onWaiting?: ((sessions: number) => void) | undefined;
}

/** DesignerSessionsError is a sync that Designers block. */
export class DesignerSessionsError extends BowlineError {
  readonly sessions: readonly DesignerSession[];

  constructor(sessions: readonly DesignerSession[], problem: string) {
    const names = sessions
      .slice(0, MAX_NAMES)
      .map(({ user, project }) => `${user} in ${project ?? 'an unknown project'}`);
    const more = sessions.length > MAX_NAMES ? ` and ${sessions.length - MAX_NAMES} more` : '';
    const message = `cannot sync ${problem}: ${names.join(', ')}${more}; close the Designers, or set ignition.designerSessionPolicy to proceed`;
    super('BOWLINE_IGNITION_DESIGNER_SESSIONS', message, { retryable: true });
    this.sessions = sessions;
  }
}

/** CHECK_INTERVAL_MS is the interval at which sessions are checked. */
export const CHECK_INTERVAL_MS = 10_000;
const MAX_NAMES = 5;

/**
 * respectDesigners resolves when a sync may change files, with the sessions that remain open. It rejects with a
 * DesignerSessionsError if they block the sync. If the gateway does not list sessions, the sync continues.
 */
export async function respectDesigners(
  options: DesignerPolicyOptions,
  signal: AbortSignal,
): Promise<readonly DesignerSession[]> {
  const { policy, timeoutMs, clock, log, onWaiting } = options;
  const deadline = clock.monotonic() + timeoutMs;
  let reported = 0;
  for (;;) {
    const sessions = await affectedSessions(options, signal);
    if (sessions.length === 0) return sessions;
    if (policy === 'proceed') {
      log.info('the sync changes projects that are open in a Designer', { sessions: sessions.length });
      return sessions;
    }
    if (policy === 'fail') throw new DesignerSessionsError(sessions, 'while Designers are open');
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0) throw new DesignerSessionsError(sessions, `after ${timeoutMs / 1000} s with open Designers`);
    if (sessions.length !== reported) onWaiting?.(sessions.length);
    reported = sessions.length;
    await clock.sleep(Math.min(CHECK_INTERVAL_MS, leftMs), signal);
  }
}

async function affectedSessions(
  { gateway, affected, log }: DesignerPolicyOptions,
  signal: AbortSignal,
): Promise<readonly DesignerSession[]> {
  try {
    const sessions = (await gateway.designers(signal)) ?? [];
    // A session whose project is not known might be in any of them.
    return sessions.filter(
      ({ project }) => affected.hasSharedChanges || project === undefined || affected.projects.has(project),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    log.warn('cannot list the Designers of the gateway; the sync continues', { reason: error.message });
    return [];
  }
}
