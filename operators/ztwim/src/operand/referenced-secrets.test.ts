import { expect, it } from 'vitest';
import { referencedSecrets, type SecretView, secretView } from './referenced-secrets.ts';

const secret = (name: string, hash: string): SecretView => ({
  metadata: { namespace: 'spire', name },
  keys: ['password'],
  hash,
  unquotable: [],
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

const withPassword = (password: string | Buffer): SecretView =>
  secretView.project({
    metadata: { namespace: 'spire', name: 'db' },
    data: { password: Buffer.from(password).toString('base64') },
  });

it.each([['a"b'], ['a\\b'], ['with-newline\n'], ['a\tb'], ['$' + '{HOME}'], [Buffer.from([0xff, 0xfe])]])(
  'refuse a password that would break the configuration file: %j',
  (password) => {
    const references = [{ name: 'db', key: 'password', isVariable: true }];
    const { problem } = referencedSecrets(all(withPassword(password)), 'spire', references);
    expect(problem?.reason).toBe('InvalidConfiguration');
    expect(problem?.message).toContain('the key password of the Secret db');
    if (typeof password === 'string') expect(problem?.message).not.toContain(password);
    // Other values are files, which may contain anything.
    expect(referencedSecrets(all(withPassword(password)), 'spire', [{ name: 'db' }]).problem).toBeUndefined();
  },
);

it.each([["p@$$w0rd!'; {}#%"], ['a b'], ['pässwörd']])(
  'accept a password with other special characters: %j',
  (password) => {
    const references = [{ name: 'db', key: 'password', isVariable: true }];
    expect(referencedSecrets(all(withPassword(password)), 'spire', references).problem).toBeUndefined();
  },
);

it('keep no value, nor annotations that repeat them', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'canary', 'ztwim.io/create-only': 'true' };
  const data = { password: Buffer.from('canary').toString('base64') };
  const view = secretView.project({ metadata: { name: 'db', annotations }, data });
  expect(JSON.stringify(view)).not.toContain('canary');
  expect(JSON.stringify(view)).not.toContain(data.password);
  expect(view.metadata.annotations).toEqual({ 'ztwim.io/create-only': 'true' });
});
