import { describe, expect, it } from 'vitest';
import { Store } from './store.ts';

interface Entry {
  readonly tags: readonly string[];
}

const a = { namespace: 'one', name: 'a' };
const b = { namespace: 'two', name: 'b' };
const c = { name: 'c' };

describe('store', () => {
  it('keeps entries by namespace and name, cluster-scoped ones apart', () => {
    const store = new Store<Entry>();
    const entry = { tags: [] };
    expect(store.set(a, entry)).toBeUndefined();
    store.set(c, { tags: ['cluster'] });
    expect(store.get(a)).toBe(entry);
    expect(store.get({ name: 'a' })).toBeUndefined();
    expect([...store.entries()].map(([key]) => key)).toEqual([a, c]);
    expect([...store.values('one')]).toEqual([entry]);
    expect(store.size).toBe(2);
  });

  it('returns the replaced or removed entry', () => {
    const store = new Store<Entry>();
    const first = { tags: ['1'] };
    const second = { tags: ['2'] };
    store.set(a, first);
    expect(store.set(a, second)).toBe(first);
    expect(store.delete(a)).toBe(second);
    expect(store.delete(a)).toBeUndefined();
    expect(store.size).toBe(0);
  });

  it('stores an entry under each of its index values, and removes empty ones', () => {
    const store = new Store<Entry>();
    store.set(a, { tags: ['x', 'y'] });
    store.addIndex('tag', ({ tags }) => tags);
    store.set(b, { tags: ['y'] });
    const under = (tag: string): number => [...(store.byIndex('tag', tag) ?? [])].length;
    expect([under('x'), under('y'), under('z')]).toEqual([1, 2, 0]);
    store.set(a, { tags: ['z'] });
    expect([under('x'), under('y'), under('z')]).toEqual([0, 1, 1]);
    store.delete(b);
    expect(under('y')).toBe(0);
    expect(store.byIndex('size', 'x')).toBeUndefined();
  });
});

it('adopts the content of another store, with indexes, but only while it is empty', () => {
  const entry = { colour: 'red' };
  const first = new Store<typeof entry>();
  first.set({ namespace: 'a', name: 'x' }, entry);
  const store = new Store<typeof entry>();
  store.addIndex('colour', ({ colour }) => [colour]);

  expect(store.adopt(first)).toBe(true);
  expect(store.get({ namespace: 'a', name: 'x' })).toBe(entry);
  expect([...(store.byIndex('colour', 'red') ?? [])]).toEqual([entry]);
  expect([store.size, first.size]).toEqual([1, 0]);

  const second = new Store<typeof entry>();
  second.set({ namespace: 'b', name: 'y' }, entry);
  expect(store.adopt(second)).toBe(false);
  expect([store.size, second.size]).toEqual([1, 1]);
});
