import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { leaksOf, tracesOf } from './traces.ts';

const VALUE = 'canary-Zq7!"correct"\\horse';

it('finds a value in all its forms, at any place', () => {
  const json = JSON.stringify({ a: VALUE });
  for (const before of ['', 'x', 'xy']) {
    const bytes = Buffer.from(`${before}${json}`);
    for (const form of ['utf8', 'hex', 'base64', 'base64url'] as const)
      expect(leaksOf(bytes.toString(form), [VALUE]), form).toHaveLength(1);
  }
  const printed = [encodeURIComponent(json), JSON.stringify(json), inspect(Buffer.from(VALUE))];
  for (const text of [...printed, JSON.stringify(Buffer.from(VALUE)), `before\n${VALUE}\nafter`])
    expect(leaksOf(text, [VALUE, 'another value of the test']), text).toHaveLength(1);
});

it('finds a value that is cut off', () => {
  for (const text of [VALUE.slice(0, 15), VALUE.slice(11), inspect(Buffer.from(VALUE.repeat(5)))])
    expect(leaksOf(text, [VALUE])).toHaveLength(1);
});

it('finds nothing in other texts, and quotes what surrounds a value', () => {
  expect(leaksOf('canary-Zq7', [VALUE])).toEqual([]);
  expect(tracesOf(VALUE).every((trace) => trace.length > 10)).toBe(true);
  expect(leaksOf(`the value is ${VALUE}, ${'x'.repeat(1_000)}`, [VALUE])[0]).toMatch(/^the value is .*, x+$/);
  expect(leaksOf(`the value is ${VALUE}, ${'x'.repeat(1_000)}`, [VALUE])[0]?.length).toBeLessThan(200);
});
