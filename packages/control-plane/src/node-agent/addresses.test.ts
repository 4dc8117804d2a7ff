import { expect, it } from 'vitest';
import { Addresses } from './addresses.ts';

const free = (): boolean => false;

it('assigns one address to each owner, and keeps it until it is released', () => {
  const addresses = new Addresses('10.1.2.77/28');
  expect(addresses.take('a', free)).toBe('10.1.2.65');
  expect(addresses.take('b', free)).toBe('10.1.2.66');
  expect(addresses.take('a', free)).toBe('10.1.2.65');
  addresses.release('a');
  expect(addresses.take('a', free)).toBe('10.1.2.67');
});

it('skips used addresses, wraps around, and returns undefined when none is left', () => {
  const addresses = new Addresses('10.1.2.0/28');
  const given = Array.from({ length: 13 }, (_, index) => addresses.take(`owner-${index}`, (a) => a === '10.1.2.3'));
  expect(new Set(given).size).toBe(13);
  expect(given).not.toContain('10.1.2.3');
  expect(given).not.toContain('10.1.2.15');
  expect(addresses.take('one-more', (address) => address === '10.1.2.3')).toBeUndefined();
  addresses.release('owner-4');
  expect(addresses.take('one-more', (address) => address === '10.1.2.3')).toBe(given[4]);
});

it.each(['10.0.0.0', '10.0.0.0/30', '10.0.0.0/4', '10.0.0.256/16', 'fd00::/64'])(
  'rejects the network %s',
  (network) => {
    expect(() => new Addresses(network)).toThrow(RangeError);
  },
);
