import { expect, it } from 'vitest';
import { lastDue, scheduleOf, untilNextDue } from './schedule.ts';

it('lets the secrets of a device be due at the same times', () => {
  const fast = scheduleOf('hsm/pico', 10_000);
  const slow = scheduleOf('hsm/pico', 30_000);
  const now = 12_345_678.9;
  const next = now + untilNextDue(slow, now);
  expect(untilNextDue(slow, now)).toBeLessThanOrEqual(30_001);
  expect(lastDue(fast, next)).toBe(lastDue(slow, next));
});

it('is not early because of a rounding error', () => {
  const schedule = scheduleOf('hsm/pico', 30_000);
  for (let now = 0.1; now < 100_000; now += 1_234.567) {
    const next = now + untilNextDue(schedule, now);
    expect(next - lastDue(schedule, next)).toBeLessThan(1.001);
    expect(lastDue(schedule, next)).toBeGreaterThan(lastDue(schedule, now));
  }
});
