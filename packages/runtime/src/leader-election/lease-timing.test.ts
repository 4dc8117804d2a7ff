import { describe, expect, it } from 'vitest';
import { checkLeaseTiming, DEFAULT_LEASE_TIMING } from './lease-timing.ts';

describe('checkLeaseTiming', () => {
  it.each([
    [{ leaseDurationMs: 15_000, renewDeadlineMs: 15_000 }, 'must exceed renewDeadlineMs'],
    [{ leaseDurationMs: 10_200, renewDeadlineMs: 10_000 }, 'by at least 500'],
    [{ renewDeadlineMs: 2_400 }, 'must exceed 1.2 times retryPeriodMs'],
    [{ retryPeriodMs: 0 }, 'retryPeriodMs is 0'],
    [{ retryPeriodMs: Number.NaN }, 'retryPeriodMs is NaN'],
    [{ leaseDurationMs: 900, renewDeadlineMs: 300, retryPeriodMs: 100 }, 'at least 1000'],
  ])('rejects %o and names the invalid duration', (change, text) => {
    const check = () => checkLeaseTiming({ ...DEFAULT_LEASE_TIMING, ...change });
    expect(check).toThrow(expect.objectContaining({ code: 'BOWLINE_LEASE_OPTIONS_INVALID' }));
    expect(check).toThrow(text);
  });

  it('accepts the defaults, and short durations in the same proportions', () => {
    expect(() => checkLeaseTiming(DEFAULT_LEASE_TIMING)).not.toThrow();
    expect(() =>
      checkLeaseTiming({ leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 }),
    ).not.toThrow();
  });
});
