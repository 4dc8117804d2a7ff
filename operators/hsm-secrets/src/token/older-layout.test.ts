import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { SecretStore } from './secret-store.ts';
import { addObjects, labelsOn, loggedIn, softwareToken } from './software-token.test-support.ts';
import type { SoftwareToken } from './software-token.ts';

type Objects = readonly (readonly [string, string])[];
type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

const VERSIONED = '{"description":"old","labels":{"sync.version":"4","sync.timestamp":"2025-01-01T00:00:00Z"}}';
const PLAIN = '{"source":"api"}';
const TOMBSTONE = '{"labels":{"sync.version":"6","sync.deleted":"true"}}';

const storeOn = (device: SoftwareToken): SecretStore => new SecretStore(loggedIn(device), new VirtualClock());

/** contentOf returns all listed secrets with their values. */
function contentOf(store: SecretStore): Texts {
  const secrets = store.list('').filter(({ isDeleted }) => !isDeleted);
  return Object.fromEntries(
    secrets.map(({ path }) => [
      path,
      Object.fromEntries(Object.entries(store.read(path).data).map(([key, value]) => [key, value.toString()])),
    ]),
  );
}

describe('the layout of the older system', () => {
  it.each<readonly [string, Objects, Texts]>([
    [
      'keys',
      [
        ['db/a', '1'],
        ['db/b', '2'],
        ['db/_metadata', PLAIN],
      ],
      { db: { a: '1', b: '2' } },
    ],
    [
      'the key data under the path itself',
      [
        ['db', '1'],
        ['db/b', '2'],
        ['db/_metadata', PLAIN],
      ],
      { db: { data: '1', b: '2' } },
    ],
    [
      'no metadata',
      [
        ['db/a', '1'],
        ['db/b', '2'],
      ],
      { db: { a: '1', b: '2' } },
    ],
    ['no metadata and one part', [['db', '1']], { db: { data: '1' } }],
    [
      'damaged metadata',
      [
        ['db/a', '1'],
        ['db/_metadata', '{'],
        ['other/a', '2'],
      ],
      { db: { a: '1' }, other: { a: '2' } },
    ],
    ['metadata without values', [['db/_metadata', PLAIN]], {}],
    ['a tombstone', [['db/_metadata', TOMBSTONE]], {}],
    [
      'similar paths',
      [
        ['db/a', '1'],
        ['db-prod/a', '2'],
        ['db/nested/a', '3'],
      ],
      { db: { a: '1' }, 'db-prod': { a: '2' }, 'db/nested': { a: '3' } },
    ],
    [
      'objects that are not secrets',
      [
        ['some label', '1'],
        ['a b/c', '2'],
        ['/x', '3'],
        ['db/a', '1'],
      ],
      { db: { a: '1' } },
    ],
    [
      'nested secrets, both with metadata',
      [
        ['a/b', '1'],
        ['a/b/_metadata', PLAIN],
        ['a/c', '2'],
        ['a/_metadata', PLAIN],
      ],
      { a: { c: '2' }, 'a/b': { data: '1' } },
    ],
    [
      'a secret below one without metadata',
      [
        ['a/b', '1'],
        ['a/b/_metadata', PLAIN],
        ['a/c', '2'],
      ],
      { a: { c: '2' }, 'a/b': { data: '1' } },
    ],
    [
      'a key that could be a secret, with metadata of the first path',
      [
        ['a/b', '1'],
        ['a/_metadata', PLAIN],
      ],
      { a: { b: '1' } },
    ],
  ])('is read with %s', (_, objects, expected) => {
    const device = softwareToken();
    addObjects(device, objects);
    expect(contentOf(storeOn(device))).toEqual(expected);
  });

  it('has the version and the metadata of its JSON', () => {
    const device = softwareToken();
    addObjects(device, [
      ['db/a', '1'],
      ['db/_metadata', VERSIONED],
      ['gone/_metadata', TOMBSTONE],
      ['plain/a', '1'],
    ]);
    const store = storeOn(device);
    expect(store.metadata('db')).toMatchObject({ version: 4, description: 'old', timestamp: '2025-01-01T00:00:00Z' });
    expect(store.metadata('gone')).toMatchObject({ version: 6, isDeleted: true });
    expect(store.metadata('plain')).toMatchObject({ version: 0, timestamp: undefined });
  });

  it('without any metadata can be read by either path that a label can mean', () => {
    const device = softwareToken();
    addObjects(device, [['team/db', '1']]);
    const store = storeOn(device);
    expect(store.read('team').data).toEqual({ db: Buffer.from('1') });
    expect(store.read('team/db').data).toEqual({ data: Buffer.from('1') });
    store.write('team/db', { data: Buffer.from('2') }, {});
    expect(contentOf(store)).toEqual({ 'team/db': { data: '2' } });
  });

  it('is replaced without a trace', () => {
    const device = softwareToken();
    addObjects(device, [
      ['db', '1'],
      ['db/a', '2'],
      ['db/a', '3'],
      ['db/_metadata', VERSIONED],
      ['db/_metadata', '{'],
    ]);
    const store = storeOn(device);
    expect(store.write('db', { a: Buffer.from('2'), c: Buffer.from('4') }, {})).toMatchObject({ version: 5 });
    expect(labelsOn(device)).toEqual(['db/_metadata', 'db/a', 'db/c']);
  });

  it('is not replaced by a write that expects no secret, even if it has no version', () => {
    const device = softwareToken();
    addObjects(device, [['db/a', '1']]);
    const write = () => storeOn(device).write('db', {}, {}, { replaces: 0 });
    expect(write).toThrow('the secret "db" exists without a version, but no secret was expected; read it again');
    expect(labelsOn(device)).toEqual(['db/a']);
  });

  it('keeps the other keys when one is removed', () => {
    const device = softwareToken();
    addObjects(device, [
      ['db', '1'],
      ['db/a', '2'],
      ['db/_metadata', VERSIONED],
    ]);
    const store = storeOn(device);
    expect(store.remove('db', 'a')).toMatchObject({ version: 5, keys: ['data'] });
    expect(contentOf(store)).toEqual({ db: { data: '1' } });
    expect(store.metadata('db').description).toBe('old');
    expect(labelsOn(device)).toEqual(['db/_metadata', 'db/data']);
  });

  it('can be removed and purged, and so can its tombstones', () => {
    const device = softwareToken();
    addObjects(device, [
      ['db', '1'],
      ['db/a', '2'],
      ['db/_metadata', PLAIN],
      ['gone/_metadata', TOMBSTONE],
      ['gone/a', '1'],
    ]);
    const store = storeOn(device);
    expect(store.remove('db', undefined)).toMatchObject({ version: 1 });
    store.purge('db', 1);
    store.purge('gone', 6);
    expect(labelsOn(device)).toEqual([]);
  });

  it.each<readonly [string, Objects, Texts]>([
    [
      'a secret below',
      [
        ['a/b', 'older'],
        ['a/b/_metadata', PLAIN],
      ],
      { 'a/b': { data: 'older' } },
    ],
    [
      'two secrets below',
      [
        ['a/b', 'older'],
        ['a/b/_metadata', PLAIN],
        ['a/b/data', 'x'],
        ['a/b/data/_metadata', PLAIN],
      ],
      { 'a/b': { data: 'older' }, 'a/b/data': { data: 'x' } },
    ],
    ['a tombstone below', [['a/b/_metadata', TOMBSTONE]], {}],
    ['metadata below without values', [['a/b/_metadata', PLAIN]], {}],
  ])('is kept when a key gets a label that means %s', (_, objects, expected) => {
    const device = softwareToken();
    addObjects(device, objects);
    const store = storeOn(device);
    store.write('a', { b: Buffer.from('older'), c: Buffer.from('new') }, {});
    expect(contentOf(store)).toEqual({ a: { b: 'older', c: 'new' }, ...expected });
    store.write('a', { b: Buffer.from('newer') }, {});
    expect(contentOf(store)).toEqual({ a: { b: 'newer' }, ...expected });
    store.remove('a', undefined);
    expect(contentOf(store)).toEqual(expected);
  });

  it('is kept when a secret is written whose path is one of its labels', () => {
    const device = softwareToken();
    addObjects(device, [
      ['a/b', 'older'],
      ['a/c', 'x'],
      ['a/_metadata', PLAIN],
    ]);
    const store = storeOn(device);
    expect(() => store.read('a/b')).toThrow('does not exist');
    store.write('a/b', { data: Buffer.from('new') }, {}, { replaces: 0 });
    store.write('a/b', { data: Buffer.from('newer') }, {});
    expect(contentOf(store)).toEqual({ a: { b: 'older', c: 'x' }, 'a/b': { data: 'newer' } });
  });
});

describe('damage', () => {
  it('of one value makes the secret unreadable until it is written again, and affects no other secret', () => {
    const device = softwareToken();
    const store = storeOn(device);
    store.write('db', { a: Buffer.from('1'), b: Buffer.from('2') }, {}, { version: 7 });
    store.write('other', { a: Buffer.from('1') }, {});
    const token = loggedIn(device);
    for (const { handle, label } of token.find('hsm-secrets-operator')) if (label === 'db/b') token.destroy(handle);
    expect(() => store.read('db')).toThrow(
      'the secret "db" is damaged on the token, because not all of its values are there; write it again',
    );
    expect(contentOf(store)).toEqual({ other: { a: '1' } });
    // The missing value, which would complete the damaged version.
    store.write('db', { b: Buffer.from('2'), a: Buffer.from('new') }, {}, { replaces: 0 });
    expect(contentOf(store)).toEqual({ db: { a: 'new', b: '2' }, other: { a: '1' } });
    expect(store.metadata('db').version).toBe(8);
    expect(labelsOn(device)).toHaveLength(5);
  });

  it('of the metadata does not hide the values', () => {
    const device = softwareToken();
    const store = storeOn(device);
    store.write('db', { a: Buffer.from('1'), data: Buffer.from('2') }, {});
    const token = loggedIn(device);
    for (const { handle, label } of token.find('hsm-secrets-operator'))
      if (label === 'db/_metadata') token.destroy(handle);
    addObjects(device, [['db/_metadata', 'garbage']]);
    expect(contentOf(store)).toEqual({ db: { a: '1', data: '2' } });
    store.write('db', { a: Buffer.from('3') }, {});
    expect(contentOf(store)).toEqual({ db: { a: '3' } });
    expect(labelsOn(device)).toEqual(['db/_metadata', 'db/a']);
  });
});
