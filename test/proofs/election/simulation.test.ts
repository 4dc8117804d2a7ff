import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

describe('electors with pauses, suspends, partitions and wrong clocks', () => {
  it('never let a write overlap the next holder, for thirty seeds', { timeout: 60_000 }, async () => {
    let acquisitions = 0;
    let writes = 0;
    for (let seed = 1; seed <= 30; seed++) {
      const result = await simulate(seed, 300_000);
      expect(result.violations, `seed ${seed}`).toEqual([]);
      acquisitions += result.acquisitions;
      writes += result.writes;
    }
    // The seeds are effective: leadership changes, and leaders write.
    expect(acquisitions).toBeGreaterThan(100);
    expect(writes).toBeGreaterThan(5_000);
  });

  it('terminate when the deadline is a fraction of a millisecond away (seed 194)', async () => {
    expect((await simulate(194, 120_000)).violations).toEqual([]);
  });
});
