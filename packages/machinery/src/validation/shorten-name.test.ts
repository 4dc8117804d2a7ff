import { expect, it } from 'vitest';
import { shortenName } from './shorten-name.ts';

it('keeps a name that fits', () => {
  expect(shortenName('a'.repeat(63), 63)).toBe('a'.repeat(63));
});

it('shortens a longer name, and keeps names with a common prefix distinct', () => {
  const [first, second] = [shortenName(`${'a'.repeat(80)}1`, 63), shortenName(`${'a'.repeat(80)}2`, 63)];
  expect([first.length, second.length]).toEqual([63, 63]);
  expect(first).not.toBe(second);
  expect(first).toMatch(/^a{52}-[0-9a-f]{10}$/);
});

it('leaves no dot or dash before the hash', () => {
  expect(shortenName(`${'a'.repeat(50)}.-${'b'.repeat(40)}`, 63)).toMatch(/^a{50}-[0-9a-f]{10}$/);
});
