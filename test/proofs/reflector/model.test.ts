import { describe, expect, it } from 'vitest';
import { runCase } from './model.ts';
import { tampering } from './tampering.ts';

describe('the reflector model', () => {
  it('finds no violation for fifty seeds, each with faults', async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= 50; seed++) {
      const { violations, faults } = await runCase(seed);
      expect(violations, `seed ${seed}`).toEqual([]);
      for (const name of Object.keys(faults)) met.add(name);
    }
    expect([...met].sort()).toEqual(
      expect.arrayContaining(['410', '429', 'drop', 'garble', 'half-open', 'restart', 'restore', 'truncate']),
    );
  });

  it('runs the same case for the same seed', async () => {
    expect(await runCase(7)).toEqual(await runCase(7));
  });

  it.each(Object.entries(tampering))('detects that %s', async (_, tamper) => {
    for (let seed = 1; seed <= 200; seed++) {
      const { violations } = await runCase(seed, tamper);
      if (violations.length > 0) return;
    }
    expect.fail('no seed out of 200 detected it');
  });
});
