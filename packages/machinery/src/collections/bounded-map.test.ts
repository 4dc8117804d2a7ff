import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../clock/virtual-clock.ts';
import { BoundedMap } from './bounded-map.ts';

describe('BoundedMap', () => {
  test('evicts the least recently used entry first', () => {
    const map = new BoundedMap<string, number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([map.has('a'), map.has('b'), map.has('c'), map.size]).toEqual([true, false, true, 2]);
  });

  test('does not count has as a use of an entry', () => {
    const map = new BoundedMap<string, number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    map.has('a');
    map.set('c', 3);
    expect(map.get('a')).toBeUndefined();
  });

  test('keeps the total size within the limit, and does not store an entry that is larger', () => {
    const map = new BoundedMap<string, string>({ maxEntries: 100, maxSize: 10, sizeOf: (value) => value.length });
    map.set('a', '1234');
    map.set('b', '1234');
    map.set('huge', '12345678901');
    expect([map.get('a'), map.get('b'), map.get('huge')]).toEqual(['1234', '1234', undefined]);
    map.set('c', '12345');
    expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([false, true, true]);
  });

  test('no longer counts the size of a replaced or deleted entry', () => {
    const map = new BoundedMap<string, string>({ maxEntries: 100, maxSize: 10, sizeOf: (value) => value.length });
    map.set('a', '12345678');
    map.set('a', '12');
    map.set('b', '12345678');
    expect(map.size).toBe(2);
    map.delete('b');
    map.set('c', '12345678');
    expect([map.has('a'), map.has('c')]).toEqual([true, true]);
    map.clear();
    map.set('d', '1234567890');
    expect(map.get('d')).toBe('1234567890');
  });

  test('drops an expired entry, however often it was read', async () => {
    const clock = new VirtualClock();
    const map = new BoundedMap<string, number>({ maxEntries: 10, expiry: { clock, afterMs: 100 } });
    map.set('a', 1);
    await clock.advance(60);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    expect(map.dropExpired()).toBe(clock.monotonic() + 40);
    await clock.advance(40);
    expect([map.get('a'), map.has('a'), map.get('b')]).toEqual([undefined, false, 2]);
    expect(map.dropExpired()).toBe(clock.monotonic() + 60);
    expect(map.size).toBe(1);
  });

  test('evicts the oldest entry first if entries expire', () => {
    const clock = new VirtualClock();
    const map = new BoundedMap<string, number>({ maxEntries: 2, expiry: { clock, afterMs: 100 } });
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([false, true, true]);
  });

  test.each([
    ['no entries', { maxEntries: 0 }],
    ['no time', { maxEntries: 10, expiry: { clock: new VirtualClock(), afterMs: 0 } }],
  ])('stores nothing with a limit of %s', (_, options) => {
    const map = new BoundedMap<string, number>(options);
    map.set('a', 1);
    expect([map.get('a'), map.size]).toEqual([undefined, 0]);
  });
});
