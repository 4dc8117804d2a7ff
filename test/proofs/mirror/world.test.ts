import { describe, expect, it } from 'vitest';
import { tampering } from './tampering.ts';
import { runCase } from './world.ts';

describe('the model of mirroring', () => {
  it('finds no violation for twenty seeds, in which everything happens', async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const { violations, counts } = await runCase(seed);
      expect(violations, `seed ${seed}`).toEqual([]);
      for (const [name, count] of Object.entries(counts)) if (count > 0) met.add(name);
    }
    expect([...met]).toEqual(
      expect.arrayContaining([
        'acknowledged',
        'conflicts',
        'direct',
        'killed',
        'purged',
        'replaced',
        'synced',
        'together',
      ]),
    );
  });

  it('runs the same case for the same seed', async () => {
    expect(await runCase(7)).toEqual(await runCase(7));
  });

  it.each(Object.entries(tampering))('detects that %s', async (_, tamper) => {
    for (let seed = 1; seed <= 300; seed++) {
      const { violations } = await runCase(seed, tamper);
      if (violations.length > 0) return;
    }
    expect.fail('no seed out of 300 detected it');
  });
});
