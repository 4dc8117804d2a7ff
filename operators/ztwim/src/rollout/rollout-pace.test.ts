import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { RolloutPace } from './rollout-pace.ts';

it('delays the next change of a workload, but not the first one, and no other workload', async () => {
  const clock = new VirtualClock();
  const pace = new RolloutPace(clock);
  expect(pace.waitMs('a')).toBe(0);
  pace.changed('a');
  await clock.advance(200);
  expect([pace.waitMs('a'), pace.waitMs('b')]).toEqual([300, 0]);
  await clock.advance(300);
  expect(pace.waitMs('a')).toBe(0);
});
