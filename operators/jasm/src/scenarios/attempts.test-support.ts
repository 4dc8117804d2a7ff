import type { Random, VirtualClock } from '@bowline/machinery';
import { expect } from 'vitest';

/**
 * shortDelays never returns the same number twice, and only numbers so small that no delay between attempts exceeds a
 * millisecond.
 */
export function shortDelays(): Random {
  let drawn = 0;
  return { next: () => ++drawn / 2 ** 32 };
}

/**
 * untilAttempted waits until something was tried this many times. Hardly any time passes: less than the limit for an
 * answer.
 */
export async function untilAttempted(
  clock: VirtualClock,
  tries: () => readonly unknown[],
  times: number,
): Promise<void> {
  const tried = async (): Promise<number> => {
    await clock.advance(1);
    return tries().length;
  };
  await expect.poll(tried).toBe(times);
}
