import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { Change } from './history.ts';
import { Storage } from './storage.ts';
import { keyIn, objectOf } from './stored.ts';

const THINGS = 'things';
const thing = (name: string, data?: string, namespace = 'default') => ({
  metadata: { name, namespace, uid: name },
  data,
});

function open(limits: { changes?: number; ageMs?: number } = {}) {
  const clock = new VirtualClock();
  return { clock, storage: new Storage({ clock, history: limits }) };
}

describe('Storage', () => {
  it('numbers all writes with one counter, the first with 2', () => {
    const { storage } = open();
    expect(storage.create(THINGS, keyIn('default', 'a'), thing('a'))?.revision).toBe(2);
    expect(storage.create('others', keyIn(undefined, 'b'), thing('b'))?.revision).toBe(3);
    expect(storage.revision).toBe(3);
  });

  it('does not create an object that already exists', () => {
    const { storage } = open();
    storage.create(THINGS, 'default/a', thing('a', '1'));
    expect(storage.create(THINGS, 'default/a', thing('a', '2'))).toBeUndefined();
    expect(storage.revision).toBe(2);
  });

  it('updates and removes an object only at the expected revision', () => {
    const { storage } = open();
    storage.create(THINGS, 'default/a', thing('a', '1'));
    expect(storage.update(THINGS, 'default/a', 1, thing('a', '2'))).toBeUndefined();
    expect(storage.update(THINGS, 'default/a', 2, thing('a', '2'))?.revision).toBe(3);
    expect(storage.remove(THINGS, 'default/a', 2, thing('a'))).toBeUndefined();
    expect(storage.remove(THINGS, 'default/a', 3, thing('a'))?.revision).toBe(4);
    expect(storage.get(THINGS, 'default/a')).toBeUndefined();
  });

  it('ignores a write without changes, whatever the order of its fields', () => {
    const { storage } = open();
    const created = storage.create(THINGS, 'default/a', thing('a', '1'));
    const same = storage.update(THINGS, 'default/a', 2, {
      data: '1',
      metadata: { uid: 'a', namespace: 'default', name: 'a' },
    } as never);
    expect(same).toBe(created);
    expect(storage.revision).toBe(2);
  });

  it('detects every change even if the object contains other resource versions', () => {
    const { storage } = open();
    const about = (resourceVersion: string) => ({ ...thing('a'), involved: { resourceVersion } });
    storage.create(THINGS, 'default/a', about('2'));
    expect(storage.update(THINGS, 'default/a', 2, about('3'))?.revision).toBe(3);
    expect(storage.update(THINGS, 'default/a', 3, about('3'))?.revision).toBe(3);
    expect(storage.update(THINGS, 'default/a', 3, about('4'))?.revision).toBe(4);
    expect(storage.update(THINGS, 'default/a', 4, about('2'))?.revision).toBe(5);
  });

  it('lists by namespace and name, within a namespace and after a key', () => {
    const { storage } = open();
    for (const key of ['b/a', 'a/c', 'a/b', 'a/a', 'ab/x']) {
      const [namespace = '', name = ''] = key.split('/');
      storage.create(THINGS, key, thing(name, undefined, namespace));
    }
    const keys = (selection = {}): string[] => [...storage.select(THINGS, selection)].map(({ key }) => key);
    expect(keys()).toEqual(['a/a', 'a/b', 'a/c', 'ab/x', 'b/a']);
    expect(keys({ namespace: 'a' })).toEqual(['a/a', 'a/b', 'a/c']);
    expect(keys({ namespace: 'a', after: 'a/a' })).toEqual(['a/b', 'a/c']);
  });

  it('returns earlier states of a collection', () => {
    const { storage } = open();
    storage.create(THINGS, 'default/a', thing('a', '1'));
    storage.create(THINGS, 'default/b', thing('b', '1'));
    storage.update(THINGS, 'default/a', 2, thing('a', '2'));
    storage.remove(THINGS, 'default/b', 3, thing('b'));
    const at = (revision: number) =>
      [...storage.select(THINGS, {}, revision)].map((stored) => (objectOf(stored) as { data?: string }).data);
    expect(at(2)).toEqual(['1']);
    expect(at(3)).toEqual(['1', '1']);
    expect(at(4)).toEqual(['2', '1']);
    expect(at(5)).toEqual(['2']);
  });

  it('notifies watchers of every change of their collection in order, with the previous state', () => {
    const { storage } = open();
    const seen: Change[] = [];
    using _watching = storage.watch(THINGS, (change) => seen.push(change));
    storage.create(THINGS, 'default/a', thing('a'));
    storage.create('others', 'default/a', thing('a'));
    storage.update(THINGS, 'default/a', 2, thing('a', '2'));
    storage.remove(THINGS, 'default/a', 4, thing('a', '2'));
    expect(
      seen.map(({ revision, previous, current, last }) => [
        revision,
        previous?.revision,
        current?.revision,
        last?.revision,
      ]),
    ).toEqual([
      [2, undefined, 2, undefined],
      [4, 2, 4, undefined],
      [5, 4, undefined, 5],
    ]);
    expect([...storage.changesSince(THINGS, 2)].map(({ revision }) => revision)).toEqual([4, 5]);
  });

  it('drops changes beyond the limits of count and age and reports the oldest revision', async () => {
    const { storage, clock } = open({ changes: 3, ageMs: 1_000 });
    for (let index = 0; index < 10; index++) storage.create(THINGS, `default/${index}`, thing(`${index}`));
    expect(storage.oldestRevision).toBe(8);
    expect([...storage.changesSince(THINGS, 8)].map(({ revision }) => revision)).toEqual([9, 10, 11]);
    await clock.advance(1_001);
    storage.create(THINGS, 'default/last', thing('last'));
    expect(storage.oldestRevision).toBe(11);
  });
});
