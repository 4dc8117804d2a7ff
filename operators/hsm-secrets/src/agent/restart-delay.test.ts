import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { RestartDelay } from './restart-delay.ts';

it('doubles the delay from 1 s to 60 s, and begins again once a process has run for a minute', async () => {
  const clock = new VirtualClock();
  const delay = new RestartDelay(clock);
  const runFor = async (ms: number): Promise<number> => {
    delay.started();
    await clock.advance(ms);
    return delay.afterEnd() / 1_000;
  };
  const delays: number[] = [];
  for (let starts = 0; starts < 8; starts++) delays.push(await runFor(59_999));
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(await runFor(60_000)).toBe(1);
  expect(await runFor(0)).toBe(2);
});
