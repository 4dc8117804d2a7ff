import { describe, expect, it } from 'vitest';
import { databasePath, keysPath } from './data-paths.ts';
import { type IdentityHistory, nextHistory } from './identity-history.ts';

const identity = (trustDomain: string) => ({ trustDomain, clusterName: 'one' });
const first = nextHistory(undefined, identity('a.io'));
const second = nextHistory(first, identity('b.io'));
const back = nextHistory(second, identity('a.io'));

describe('databasePath', () => {
  it.each<[string, IdentityHistory, string]>([
    ['of the first trust domain', first, '/data/d.sqlite3'],
    ['of the second trust domain', second, '/data/d-b.io.sqlite3'],
    ['of the first trust domain after a change back', back, '/data/d.sqlite3'],
  ])('returns the file %s', (_, history, expected) => {
    expect(databasePath('/data/d.sqlite3', identity(history.trustDomain.current), history)).toBe(expected);
  });

  it.each<[string, string]>([
    ['/data/d', '/data/d-b.io'],
    ['/data.d/d', '/data.d/d-b.io'],
    ['/data/d.tar.db', '/data/d.tar-b.io.db'],
    ['/data/d.db?_busy_timeout=1&a=b.c', '/data/d-b.io.db?_busy_timeout=1&a=b.c'],
    ['file:/data/d.db?cache=shared', 'file:/data/d-b.io.db?cache=shared'],
    ['/data/d?a=/x.y', '/data/d-b.io?a=/x.y'],
    ['file::memory:?cache=shared', 'file::memory:?cache=shared'],
    ['file:d?mode=memory&cache=shared', 'file:d?mode=memory&cache=shared'],
  ])('changes only the name of the file: %s', (connectionString, expected) => {
    expect(databasePath(connectionString, identity('b.io'), second)).toBe(expected);
  });
});

describe('keysPath', () => {
  it.each<[string, IdentityHistory, string]>([
    ['of the first trust domain', first, '/run/spire/data/keys.json'],
    ['of the second trust domain', second, '/run/spire/data/keys-b.io.json'],
    ['of the first trust domain after a change back', back, '/run/spire/data/keys.json'],
  ])('returns the file %s', (_, history, expected) => {
    expect(keysPath(identity(history.trustDomain.current), history)).toBe(expected);
  });
});
