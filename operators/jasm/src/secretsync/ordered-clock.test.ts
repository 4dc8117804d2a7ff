import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { orderedClock } from './ordered-clock.ts';

it('returns increasing instants while the clock stands still, and the time of the clock when it advances', async () => {
  const clock = new VirtualClock();
  const ordered = orderedClock(clock);
  const [first, second] = [ordered.monotonic(), ordered.monotonic()];
  expect(second).toBeGreaterThan(first);
  expect(second).toBeLessThan(1);
  await clock.advance(1_000);
  expect(ordered.monotonic()).toBe(1_000);
});
