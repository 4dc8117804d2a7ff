import { BowlineError } from '../errors/bowline-error.ts';

/** LeaseTiming is the three durations that every candidate of one Lease should share. */
export interface LeaseTiming {
  /** How long the others wait after the last renewal they saw before they take over. Defaults to 15000. */
  readonly leaseDurationMs: number;
  /** How long after its last successful renewal a holder may still begin a write. Defaults to 10000. */
  readonly renewDeadlineMs: number;
  /** How often a holder renews and a candidate looks. Defaults to 2000. */
  readonly retryPeriodMs: number;
}

/** What controller-runtime and client-go use, so that mixed fleets behave alike. */
export const DEFAULT_LEASE_TIMING: LeaseTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** RETRY_JITTER stretches a retry by at most a fifth, so that candidates that started together drift apart. */
export const RETRY_JITTER = 0.2;

/** A write that must end in less than this would mostly be cut off before the server has answered. */
const SHORTEST_WRITE_MS = 500;

/** The Lease stores whole seconds, at least one. */
const SHORTEST_LEASE_MS = 1_000;

/**
 * checkLeaseTiming throws BOWLINE_LEASE_OPTIONS_INVALID unless the durations leave room for a renewal to be tried twice
 * before the deadline, and for a write begun at the deadline to end before the Lease does.
 */
export function checkLeaseTiming(timing: LeaseTiming): LeaseTiming {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  for (const [name, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!Number.isFinite(value) || value <= 0) throw invalid(`${name} is ${value}: give a positive number`);
  }
  if (leaseDurationMs < SHORTEST_LEASE_MS) {
    throw invalid(
      `leaseDurationMs is ${leaseDurationMs}: give at least ${SHORTEST_LEASE_MS}, a Lease counts in seconds`,
    );
  }
  if (leaseDurationMs - renewDeadlineMs < SHORTEST_WRITE_MS) {
    throw invalid(
      `leaseDurationMs (${leaseDurationMs}) must exceed renewDeadlineMs (${renewDeadlineMs}) by at least ` +
        `${SHORTEST_WRITE_MS}: a write that starts at the deadline has to end before another may take over`,
    );
  }
  if (renewDeadlineMs <= retryPeriodMs * (1 + RETRY_JITTER)) {
    throw invalid(
      `renewDeadlineMs (${renewDeadlineMs}) must exceed ${1 + RETRY_JITTER} times retryPeriodMs (${retryPeriodMs}), ` +
        'else one late renewal loses the Lease',
    );
  }
  return timing;
}

function invalid(what: string): BowlineError {
  return new BowlineError('BOWLINE_LEASE_OPTIONS_INVALID', `cannot use these lease durations: ${what}`);
}
