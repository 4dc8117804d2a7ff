import { expect, it } from 'vitest';
import type { GitSecrets, GitSpec } from './git-secrets.ts';
import { SourceIdentities } from './source-identity.ts';

const key = { name: 'a', key: 'b' };
const git: GitSpec = { repo: 'https://git.example.com/a.git', ref: 'main', submodules: false, lfs: false };
const withToken: GitSpec = { ...git, auth: { token: { secretRef: key, username: 'x' } } };
const withKey: GitSpec = { ...git, repo: 'git@git.example.com:a.git', auth: { sshKey: { secretRef: key } } };

const identities = new SourceIdentities();
const idOf = (spec: GitSpec, secrets: GitSecrets = {}, pinned: readonly string[] = [], namespace = 'a'): string =>
  identities.sourceOf({ namespace, git: spec, secrets, pinned }).id;

it('is the same for the same repository and credentials, whatever the Secret and the namespace are called', () => {
  const other: GitSpec = {
    ...withToken,
    ref: 'v1',
    auth: { token: { secretRef: { name: 'c', key: 'd' }, username: 'x' } },
  };
  expect(idOf(withToken, { token: 't' })).toBe(idOf(other, { token: 't' }, [], 'b'));
  expect(idOf(git, { signers: 'a' })).toBe(idOf(git, { signers: 'b' }));
});

it.each([
  ['another repository', idOf({ ...git, repo: 'https://git.example.com/b.git' }), idOf(git)],
  ['another token', idOf(withToken, { token: 't' }), idOf(withToken, { token: 'u' })],
  ['another certificate authority', idOf(git, { ca: 'a' }), idOf(git, { ca: 'b' })],
  ['other known hosts', idOf(withKey, { knownHosts: 'a' }), idOf(withKey, { knownHosts: 'b' })],
  ['other pinned keys', idOf(withKey, {}, ['SHA256:a']), idOf(withKey, {}, ['SHA256:b'])],
])('differs for %s', (_, a, b) => {
  expect(a).not.toBe(b);
});

it('cannot be compared with that of another process, so that nobody can guess credentials', () => {
  expect(new SourceIdentities().digest('token')).not.toBe(new SourceIdentities().digest('token'));
});
