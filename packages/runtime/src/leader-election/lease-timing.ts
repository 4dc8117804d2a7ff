import { BowlineError } from '../errors/bowline-error.ts';

/**
 * LeaseTiming holds the three durations of leader election. All candidates for one Lease should use the same values.
 */
export interface LeaseTiming {
  /** How long candidates wait after the last observed renewal before they take over. Defaults to 15000. */
  readonly leaseDurationMs: number;
  /** How long after its last successful renewal the holder may still start a write. Defaults to 10000. */
  readonly renewDeadlineMs: number;
  /** The interval at which the holder renews and candidates check the Lease. Defaults to 2000. */
  readonly retryPeriodMs: number;
}

/** The defaults of controller-runtime and client-go. */
export const DEFAULT_LEASE_TIMING: LeaseTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** RETRY_JITTER extends each retry by up to a fifth, so that candidates that started together drift apart. */
export const RETRY_JITTER = 0.2;

/** A write with a shorter timeout would mostly be cancelled before the server has responded. */
const MIN_WRITE_MS = 500;

/** The Lease stores whole seconds, at least one. */
const MIN_LEASE_MS = 1_000;

/**
 * checkLeaseTiming throws BOWLINE_LEASE_OPTIONS_INVALID unless the durations leave time for two renewal attempts before
 * the deadline, and for a write started at the deadline to end before the Lease expires.
 */
export function checkLeaseTiming(timing: LeaseTiming): LeaseTiming {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  for (const [name, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!Number.isFinite(value) || value <= 0) throw invalid(`${name} is ${value}: use a positive number`);
  }
  if (leaseDurationMs < MIN_LEASE_MS) {
    throw invalid(
      `leaseDurationMs is ${leaseDurationMs}: use at least ${MIN_LEASE_MS} because a Lease counts in seconds`,
    );
  }
  if (leaseDurationMs - renewDeadlineMs < MIN_WRITE_MS) {
    throw invalid(
      `leaseDurationMs (${leaseDurationMs}) must exceed renewDeadlineMs (${renewDeadlineMs}) by at least ` +
        `${MIN_WRITE_MS}: a write that starts at the deadline must end before another candidate may take over`,
    );
  }
  if (renewDeadlineMs <= retryPeriodMs * (1 + RETRY_JITTER)) {
    throw invalid(
      `renewDeadlineMs (${renewDeadlineMs}) must exceed ${1 + RETRY_JITTER} times retryPeriodMs (${retryPeriodMs}), ` +
        'otherwise one late renewal loses the Lease',
    );
  }
  return timing;
}

function invalid(what: string): BowlineError {
  return new BowlineError('BOWLINE_LEASE_OPTIONS_INVALID', `cannot use these lease durations: ${what}`);
}
