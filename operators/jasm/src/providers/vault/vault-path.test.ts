import { describe, expect, it } from 'vitest';
import { vaultNames } from './vault-path.ts';

const mounts = { kv1Mounts: ['kv', 'old/kv'], kv2Mounts: ['team/secret'] };

describe('the names of a secret in Vault', () => {
  it.each([
    ['secret/data/api-keys', ['secret/data/api-keys', 'secret/api-keys']],
    ['secret/api-keys', ['secret/data/api-keys', 'secret/api-keys']],
    ['secret/app/db', ['secret/data/app/db', 'secret/app/db']],
    ['secret/metadata/x', ['secret/data/metadata/x', 'secret/metadata/x']],
    ['team/secret/data/x', ['team/secret/data/x', 'team/secret/x']],
    ['team/secret/x', ['team/secret/data/x', 'team/secret/x']],
    ['team/other', ['team/data/other', 'team/other']],
    ['kv/app', ['kv/app']],
    ['kv/data/app', ['kv/data/app']],
    ['old/kv/app', ['old/kv/app']],
  ])('of %s start with the API path', (path, names) => {
    expect(vaultNames(path, mounts)).toEqual(names);
  });

  it('never include the name of another secret: data/x is not x', () => {
    expect(vaultNames('secret/data/data/x', mounts)).toEqual(['secret/data/data/x']);
    expect(vaultNames('secret/data/x', mounts)[0]).toBe('secret/data/x');
  });

  it.each([
    '',
    'secret',
    'secret/',
    'secret/data',
    '/secret/data/x',
    'secret//x',
    'secret/data/x/',
    'secret/data/../../sys/raw',
    'secret/./x',
    'secret/data/...',
    'secret/%2e%2e/x',
    'secret/data/x?version=1',
    'secret/data/x#y',
    'secret\\x',
    'secret/a b',
    'secret/ä',
    'secret/x\n',
    'kv',
    'team/secret',
  ])('cannot be derived from %j; the message describes the path format', (path) => {
    expect(() => vaultNames(path, mounts)).toThrow(/a path is mount\/data\/name/);
  });
});
