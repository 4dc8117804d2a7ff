import { describe, expect, it } from 'vitest';
import { configOf } from '../../testing/config-of.test-support.ts';
import { azureNames } from './azure-path.ts';
import { config } from './config.ts';

const vaults = {
  vaults: {
    prod: 'https://prod-eu.vault.azure.net/',
    production: 'https://PROD-eu.vault.azure.net',
    test: 'https://test.vault.azure.net',
  },
  defaultVault: 'production',
};

describe('the names of a secret in Key Vault', () => {
  it.each([
    ['test/db', ['test/db']],
    ['TEST/Db', ['test/db', 'test/Db']],
    ['prod/db', ['prod/db', 'db']],
    ['production/db', ['prod/db', 'db']],
    ['Db', ['prod/db', 'prod/Db', 'db', 'Db']],
  ])('of %s start with the same name, whatever the case of the path', (path, names) => {
    expect(azureNames(path, vaults)).toEqual(names);
  });

  it.each([
    '',
    '/db',
    'test/',
    'test/db/version',
    'test/..',
    'test/db?x',
    'test/db%2f',
    'test/a_b',
    'test/a.b',
    `test/${'a'.repeat(128)}`,
    'other/db',
    'constructor/db',
    'https://evil.example.com/db',
  ])('cannot be derived from %j, which is rejected', (path) => {
    expect(() => azureNames(path, vaults)).toThrow(/a path is vault\/secret/);
  });

  it('need a vault if there is no default vault', () => {
    expect(() => azureNames('db', { vaults: vaults.vaults, defaultVault: undefined })).toThrow(
      'no default vault is configured',
    );
  });
});

describe('the configuration of Key Vault', () => {
  it.each([
    [{ vaults: { Prod: 'https://a.vault.azure.net' } }, /lower-case letters/],
    [{ vaults: { prod: 'https://a.vault.azure.net/path' } }, /vaults/],
    [{ defaultVault: 'prod' }, /defaultVault must be one of vaults/],
  ])('rejects %j', (section, problem) => {
    expect(() => configOf(config, section)).toThrow(problem);
  });
});
