const MIN_HEARTBEAT_MS = 1_000;
const MAX_HEARTBEAT_MS = 60_000;

/** heartbeatMs returns how often a discovery pod repeats its report: three times within the grace period. */
export function heartbeatMs(gracePeriodMs: number): number {
  return Math.max(MIN_HEARTBEAT_MS, Math.min(gracePeriodMs / 3, MAX_HEARTBEAT_MS));
}
