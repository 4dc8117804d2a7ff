import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { checksumOf } from './checksum.ts';
import { SecretStore } from './secret-store.ts';
import { labelsOn, loggedIn, softwareToken } from './software-token.test-support.ts';
import type { SoftwareToken } from './software-token.ts';
import { TokenError, type TokenProblem } from './token-error.ts';
import type { MetadataInput, SecretData, WriteOptions } from './token-service.ts';

const data = (values: Readonly<Record<string, string>>): SecretData =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)]));

const texts = (values: SecretData) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value.toString()]));

const clock = new VirtualClock();
const storeOn = (device: SoftwareToken): SecretStore => new SecretStore(loggedIn(device), clock);

const problemOf = (work: () => unknown): TokenProblem | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof TokenError) return error.problem;
    throw error;
  }
};

describe('a secret', () => {
  it('is read as it was written, with its metadata and checksum', () => {
    const store = storeOn(softwareToken());
    const metadata: MetadataInput = {
      description: 'a database',
      labels: { team: 'a' },
      format: 'opaque',
      dataType: 'plaintext',
      source: 'cli',
    };
    const written = store.write('team/db', data({ username: 'admin', password: 's3cret' }), metadata);
    expect(written).toEqual({
      path: 'team/db',
      version: 1,
      timestamp: '2026-01-01T00:00:00.000000Z',
      isDeleted: false,
      checksum: 'sha256:cb9a02ea9892b964ae2a124db775cc050b8dc3e4887d6cac18d8966b8d0c9465',
      keys: ['password', 'username'],
    });
    const secret = store.read('team/db');
    expect(texts(secret.data)).toEqual({ username: 'admin', password: 's3cret' });
    expect(secret.checksum).toBe(written.checksum);
    const createdAt = '2026-01-01T00:00:00.000000Z';
    expect(secret.metadata).toEqual({ ...metadata, version: 1, timestamp: createdAt, createdAt, isDeleted: false });
    expect(store.metadata('team/db')).toEqual(secret.metadata);
    expect(store.list('')).toEqual([written]);
  });

  it('consists of one object per key and one with metadata', () => {
    const device = softwareToken();
    storeOn(device).write('team/db', data({ a: '1', data: '2' }), {});
    expect(labelsOn(device)).toEqual(['team/db/_metadata', 'team/db/a', 'team/db/data']);
  });

  it.each<readonly [string, SecretData]>([
    ['no keys', {}],
    ['an empty value', data({ a: '' })],
    ['binary values', { a: Buffer.from([0, 255, 254, 0]) }],
    ['dotted keys', data({ 'tls.crt': 'a', '.hidden': 'b', '-x_': 'c' })],
    ['keys that are members of every object', data(JSON.parse('{"__proto__": "a", "constructor": "b"}'))],
    ['1 MiB', { a: Buffer.alloc(524_288, 1), b: Buffer.alloc(524_288, 2) }],
  ])('may have %s', (_, content) => {
    const store = storeOn(softwareToken());
    store.write('db', content, {});
    const read = store.read('db').data;
    expect(Object.keys(read).sort()).toEqual(Object.keys(content).sort());
    expect(checksumOf(read)).toBe(checksumOf(content));
  });

  it('gets the next version with each write, keeps its creation time, and loses keys that are not written', async () => {
    const time = new VirtualClock();
    const store = new SecretStore(loggedIn(softwareToken()), time);
    store.write('db', data({ a: '1', b: '2' }), { description: 'old' });
    await time.advance(1_500);
    expect(store.write('db', data({ b: '2', c: '3' }), {})).toMatchObject({ version: 2, keys: ['b', 'c'] });
    expect(store.metadata('db')).toMatchObject({
      description: undefined,
      createdAt: '2026-01-01T00:00:00.000000Z',
      timestamp: '2026-01-01T00:00:01.500000Z',
    });
  });

  it('keeps the objects of unchanged values', () => {
    const device = softwareToken();
    storeOn(device).write('db', data({ a: '1', b: '2' }), {});
    const token = loggedIn(device);
    const created: string[] = [];
    const create = (object: Parameters<typeof token.create>[0]) => {
      created.push(object.label);
      token.create(object);
    };
    new SecretStore({ ...token, create }, clock).write('db', data({ a: '1', b: '3' }), {});
    expect(created).toEqual(['db/b', 'db/_metadata']);
    expect(labelsOn(device)).toEqual(['db/_metadata', 'db/a', 'db/b']);
  });

  it('is not written again by mirroring if it is the same', () => {
    const device = softwareToken();
    const options = { version: 5, timestamp: '2026-01-01T00:00:00Z' };
    storeOn(device).write('db', data({ a: '1' }), {}, options);
    const store = storeOn(device);
    expect(store.write('db', data({ a: '1' }), {}, options)).toMatchObject({ version: 5 });
    expect(store.hasWritten).toBe(false);
  });

  it.each([5, 4, 6])('with version 5 can be replaced by one with version %i', (version) => {
    const device = softwareToken();
    const store = storeOn(device);
    store.write('db', data({ a: '1', b: '2' }), {}, { version: 5, timestamp: '2026-01-01T00:00:00Z' });
    store.write('db', data({ a: '1', b: '3' }), {}, { version, timestamp: '2025-01-01T00:00:00Z' });
    expect(texts(store.read('db').data)).toEqual({ a: '1', b: '3' });
    expect(store.metadata('db').version).toBe(version);
    expect(labelsOn(device)).toHaveLength(3);
  });

  it('does not affect secrets whose paths start with its path', () => {
    const device = softwareToken();
    const store = storeOn(device);
    const paths = ['db-prod', 'db/nested', 'db/nested/more', 'd', 'db.x', 'db'];
    for (const path of paths) store.write(path, data({ key: path, nested: 'n', more: 'm', data: path }), {});
    store.write('db', data({ nested: 'x' }), {});
    store.remove('db', undefined);
    store.purge('db', 3);
    for (const path of paths.slice(0, -1))
      expect(texts(store.read(path).data)).toEqual({ key: path, nested: 'n', more: 'm', data: path });
    expect(labelsOn(device).filter((label) => /^db\/[^/]+$/.test(label))).toEqual([]);
  });
});

describe('a write', () => {
  const path = 'db';
  it.each<readonly [string, (store: SecretStore) => unknown, RegExp]>([
    ['a path', (store) => store.write('a//b', {}, {}), /the path "a\/\/b" of a secret/],
    ['a path to read', (store) => store.read('../a'), /the path/],
    ['a prefix', (store) => store.list('a b'), /the path/],
    ['a key', (store) => store.write(path, data({ 'a/b': '' }), {}), /the key "a\/b" of a secret must consist of/],
    ['the key of the metadata', (store) => store.write(path, data({ _metadata: '' }), {}), /must not be '_metadata'/],
    ['a key to remove', (store) => store.remove(path, '_metadata'), /must not be '_metadata'/],
    ['too many bytes', (store) => store.write(path, { a: Buffer.alloc(1_048_577) }, {}), /1048577 bytes, more than/],
    [
      'too many keys',
      (store) =>
        store.write(path, data(Object.fromEntries(Array.from({ length: 1_025 }, (_, n) => [`k${n}`, '']))), {}),
      /1025 keys/,
    ],
    ['a reserved label', (store) => store.write(path, {}, { labels: { 'sync.deleted': 'true' } }), /reserved/],
    ['long metadata', (store) => store.write(path, {}, { description: 'x'.repeat(20_000) }), /metadata .* bytes/],
    ['a version', (store) => store.write(path, {}, {}, { version: 0 }), /the version 0 .* from 1/],
    ['a fractional version', (store) => store.write(path, {}, {}, { replaces: 1.5 }), /the version 1.5/],
    ['a huge version', (store) => store.write(path, {}, {}, { version: 2 ** 53 }), /the version/],
    ['a time', (store) => store.write(path, {}, {}, { timestamp: 'yesterday' }), /"yesterday" .* RFC 3339/],
  ])('refuses %s that is not valid, without writing', (_, work, message) => {
    const device = softwareToken();
    const store = storeOn(device);
    expect(problemOf(() => work(store))).toBe('Invalid');
    expect(() => work(store)).toThrow(message);
    expect(store.hasWritten).toBe(false);
  });

  it.each<readonly [string, WriteOptions, 'none' | 'version 2' | 'tombstone 2', TokenProblem | undefined]>([
    ['anything', {}, 'none', undefined],
    ['anything', {}, 'version 2', undefined],
    ['anything', {}, 'tombstone 2', undefined],
    ['nothing', { replaces: 0 }, 'none', undefined],
    ['nothing', { replaces: 0 }, 'version 2', 'VersionMismatch'],
    ['nothing', { replaces: 0 }, 'tombstone 2', 'VersionMismatch'],
    ['version 2', { replaces: 2 }, 'none', 'VersionMismatch'],
    ['version 2', { replaces: 2 }, 'version 2', undefined],
    ['version 2', { replaces: 2 }, 'tombstone 2', undefined],
    ['version 1', { replaces: 1 }, 'version 2', 'VersionMismatch'],
    ['version 1', { replaces: 1 }, 'tombstone 2', 'VersionMismatch'],
  ])('that replaces %s (%j) finds %s: %s', (_, options, found, problem) => {
    const device = softwareToken();
    const store = storeOn(device);
    if (found !== 'none') store.write('db', data({ a: '1' }), {}, { version: found === 'version 2' ? 2 : 1 });
    if (found === 'tombstone 2') store.remove('db', undefined);
    const before = labelsOn(device);
    expect(problemOf(() => store.write('db', data({ b: '1' }), {}, options))).toBe(problem);
    if (problem !== undefined) expect(labelsOn(device)).toEqual(before);
  });

  it.each(['a new secret', 'an existing secret'])('that does not fit leaves %s as it was', (which) => {
    const device = softwareToken({ capacityBytes: 5_000 });
    const store = storeOn(device);
    store.write('other', data({ a: 'x'.repeat(1_000) }), {});
    if (which === 'an existing secret') store.write('db', data({ a: '1' }), {});
    const before = labelsOn(device);
    const large = { a: Buffer.alloc(100), b: Buffer.alloc(1_000), c: Buffer.alloc(3_000), d: Buffer.alloc(10) };
    expect(problemOf(() => store.write('db', large, {}))).toBe('Full');
    expect(labelsOn(device)).toEqual(before);
    if (which === 'an existing secret') expect(texts(store.read('db').data)).toEqual({ a: '1' });
    else expect(problemOf(() => store.read('db'))).toBe('NotFound');
    store.write('db', data({ a: '2' }), {});
    expect(texts(store.read('db').data)).toEqual({ a: '2' });
  });

  it('is refused in a session that is not logged in, instead of finding an empty token', () => {
    const device = softwareToken();
    storeOn(device).write('db', data({ a: '1' }), {});
    const store = new SecretStore(device.open(), clock);
    expect(problemOf(() => store.read('db'))).toBe('Unavailable');
    expect(problemOf(() => store.list(''))).toBe('Unavailable');
    expect(problemOf(() => store.write('db', {}, {}))).toBe('Unavailable');
  });
});

describe('removing', () => {
  it('a secret leaves a tombstone, which is listed, and can be purged', () => {
    const device = softwareToken();
    const store = storeOn(device);
    store.write('db', data({ a: '1' }), { description: 'a database' });
    const tombstone = store.remove('db', undefined);
    expect(tombstone).toMatchObject({ version: 2, isDeleted: true, checksum: undefined, keys: [] });
    expect(store.list('')).toEqual([tombstone]);
    expect(labelsOn(device)).toEqual(['db/_metadata']);
    expect(() => store.read('db')).toThrow('the secret "db" was deleted with version 2');
    expect(store.metadata('db')).toMatchObject({ version: 2, isDeleted: true, description: undefined });
    expect(problemOf(() => store.purge('db', 1))).toBe('VersionMismatch');
    store.purge('db', 2);
    store.purge('db', 2);
    expect(labelsOn(device)).toEqual([]);
    expect(problemOf(() => store.metadata('db'))).toBe('NotFound');
  });

  it('a secret works on a full token', () => {
    const device = softwareToken({ capacityBytes: 1_000 });
    const store = storeOn(device);
    store.write('db', { a: Buffer.alloc(400) }, {});
    const token = loggedIn(device);
    const filler = { label: 'other', application: 'other', objectId: Buffer.alloc(0), value: Buffer.alloc(1) };
    expect(problemOf(() => Array.from({ length: 100 }, () => token.create(filler)))).toBe('Full');
    expect(problemOf(() => store.write('db', { a: Buffer.alloc(401) }, {}))).toBe('Full');
    expect(store.remove('db', undefined)).toMatchObject({ version: 2, isDeleted: true });
    expect(store.list('')).toHaveLength(1);
    expect(labelsOn(device)).toEqual(['db/_metadata']);
  });

  it('a key leaves the other keys and the metadata', () => {
    const device = softwareToken();
    const store = storeOn(device);
    store.write('db', data({ a: '1', b: '2' }), { description: 'a database', labels: { team: 'a' } });
    expect(store.remove('db', 'a')).toMatchObject({ version: 2, keys: ['b'], isDeleted: false });
    expect(store.metadata('db')).toMatchObject({ description: 'a database', labels: { team: 'a' } });
    expect(store.remove('db', 'b')).toMatchObject({ version: 3, keys: [], isDeleted: false });
    expect(store.read('db').data).toEqual({});
    expect(labelsOn(device)).toEqual(['db/_metadata']);
  });

  it.each<readonly [string, (store: SecretStore) => unknown]>([
    ['a secret that does not exist', (store) => store.remove('none', undefined)],
    ['a secret that was deleted', (store) => store.remove('deleted', undefined)],
    ['a key of a secret that was deleted', (store) => store.remove('deleted', 'a')],
    ['a key that does not exist', (store) => store.remove('db', 'none')],
    ['a key of a secret that does not exist', (store) => store.remove('none', 'a')],
  ])('%s fails', (_, work) => {
    const store = storeOn(softwareToken());
    store.write('deleted', data({ a: '1' }), {});
    store.remove('deleted', undefined);
    store.write('db', data({ a: '1' }), {});
    expect(problemOf(() => work(store))).toBe('NotFound');
  });

  it('checks the version that it replaces', () => {
    const store = storeOn(softwareToken());
    store.write('db', data({ a: '1', b: '2' }), {});
    expect(problemOf(() => store.remove('db', undefined, { replaces: 2 }))).toBe('VersionMismatch');
    expect(problemOf(() => store.remove('db', 'a', { replaces: 2 }))).toBe('VersionMismatch');
    expect(store.remove('db', 'a', { replaces: 1 })).toMatchObject({ version: 2 });
  });

  it('by mirroring leaves a tombstone where there was no secret, and replaces older tombstones', () => {
    const store = storeOn(softwareToken());
    const timestamp = '2026-02-01T00:00:00Z';
    expect(store.remove('db', undefined, { version: 7, timestamp })).toMatchObject({ version: 7, timestamp });
    expect(store.remove('db', undefined, { version: 9, timestamp })).toMatchObject({ version: 9 });
    expect(store.list('')).toHaveLength(1);
  });

  it('does not purge a secret', () => {
    const store = storeOn(softwareToken());
    store.write('db', data({ a: '1' }), {});
    expect(() => store.purge('db', 1)).toThrow('the secret "db" exists with version 1');
    expect(texts(store.read('db').data)).toEqual({ a: '1' });
  });

  it('is followed by a higher version when the secret is written again', () => {
    const store = storeOn(softwareToken());
    store.write('db', data({ a: '1' }), {});
    store.remove('db', undefined);
    expect(store.write('db', data({ b: '2' }), {})).toMatchObject({ version: 3, isDeleted: false });
    expect(texts(store.read('db').data)).toEqual({ b: '2' });
  });
});

describe('a list', () => {
  const listed = (prefix: string) => {
    const store = storeOn(softwareToken());
    for (const path of ['team/b', 'team', 'team-2/a', 'team/a/deep', 'other']) store.write(path, data({ a: '1' }), {});
    return store.list(prefix).map(({ path }) => path);
  };

  it.each([
    ['', ['other', 'team', 'team-2/a', 'team/a/deep', 'team/b']],
    ['team', ['team', 'team/a/deep', 'team/b']],
    ['team/', ['team', 'team/a/deep', 'team/b']],
    ['team/a', ['team/a/deep']],
    ['tea', []],
  ])('below %j contains %j', (prefix, expected) => {
    expect(listed(prefix)).toEqual(expected);
  });
});
