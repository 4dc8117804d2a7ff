import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { orderedClock } from './ordered-clock.ts';

it('gives later instants while time stands still, and the time itself when it moves', async () => {
  const clock = new VirtualClock();
  const ordered = orderedClock(clock);
  const [first, second] = [ordered.monotonic(), ordered.monotonic()];
  expect(second).toBeGreaterThan(first);
  expect(second).toBeLessThan(1);
  await clock.advance(1_000);
  expect(ordered.monotonic()).toBe(1_000);
});
