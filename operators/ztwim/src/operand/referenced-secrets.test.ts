import { expect, it } from 'vitest';
import { referencedSecrets, type SecretView } from './referenced-secrets.ts';

const secret = (name: string, hash: string): SecretView => ({
  metadata: { namespace: 'spire', name },
  keys: ['password'],
  hash,
});
const all =
  (...secrets: readonly SecretView[]) =>
  ({ name }: { name: string }) =>
    secrets.find((each) => each.metadata.name === name);

it('have no hash if there are none', () => {
  expect(referencedSecrets(all(), 'spire', [])).toEqual({ problem: undefined, hash: undefined });
});

it.each([
  [[{ name: 'other' }], 'the Secret other does not exist in the namespace spire; create it'],
  [[{ name: 'db', key: 'pass' }], 'the Secret db in the namespace spire has no key pass; add it'],
])('name what is missing: %o', (references, message) => {
  expect(referencedSecrets(all(secret('db', '1')), 'spire', references).problem).toEqual({
    reason: 'SecretMissing',
    message,
  });
});

it('have another hash when one of them changes', () => {
  const references = [{ name: 'a', key: 'password' }, { name: 'b' }];
  const hashes = ['1', '2'].map(
    (hash) => referencedSecrets(all(secret('a', hash), secret('b', '1')), 'spire', references).hash,
  );
  expect(new Set(hashes).size).toBe(2);
});
