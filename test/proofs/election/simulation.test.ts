import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

describe('electors under pauses, sleep, partitions and wrong clocks', () => {
  it('never let a write run into the next holder’s time, under sixty seeds', async () => {
    let acquisitions = 0;
    let writes = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const result = await simulate(seed, 300_000);
      expect(result.violations, `seed ${seed}`).toEqual([]);
      acquisitions += result.acquisitions;
      writes += result.writes;
    }
    // The seeds do what they are for: leadership moves, and leaders write.
    expect(acquisitions).toBeGreaterThan(200);
    expect(writes).toBeGreaterThan(10_000);
  });
});
