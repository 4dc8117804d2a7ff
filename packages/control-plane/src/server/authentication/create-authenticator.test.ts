import { generateKeyPairSync } from 'node:crypto';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { ApiConnection } from '../http/api-request.ts';
import { Storage } from '../storage/storage.ts';
import { createAuthenticator } from './create-authenticator.ts';
import { jwtKey } from './jwt.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { ANONYMOUS, type UserInfo } from './user-info.ts';

const clock = new VirtualClock();
const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const storage = new Storage({ clock });
storage.create('serviceaccounts', 'ns/sa', { metadata: { name: 'sa', namespace: 'ns', uid: 'u' } });
const serviceAccounts = new ServiceAccountTokens({ storage, clock, key: jwtKey(pem.toString()) });
const now = clock.now() / 1000;
const accountToken = serviceAccounts.issue({
  audiences: serviceAccounts.audiences,
  id: 'j',
  namespace: 'ns',
  serviceAccount: { name: 'sa', uid: 'u' },
  issuedAt: now,
  notBefore: now,
  expiresAt: now + 600,
});
const authenticator = createAuthenticator({
  serviceAccounts,
  tokens: [
    { token: 'secret', user: { username: 'ann', groups: ['g'] } },
    { token: 'hidden', user: { username: 'bob', groups: ['system:authenticated'] } },
    { token: '', user: { username: 'eve', groups: ['system:masters'] } },
  ],
});
const ann: UserInfo = { username: 'ann', groups: ['g', 'system:authenticated'] };

function who(authorization?: string, connection: Partial<ApiConnection> = {}): UserInfo | undefined {
  return authenticator.authenticate({
    method: 'GET',
    url: '/',
    headers: { authorization },
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    connection: { remoteAddress: '', isSecure: true, ...connection },
  });
}

describe('the authenticator', () => {
  it.each<[string, string | undefined, UserInfo | undefined]>([
    ['a static token', 'Bearer secret', ann],
    ['the scheme in lower case', 'bearer secret', ann],
    ['text after the token', ' Bearer secret more ', ann],
    [
      'a token of a user who already has the group',
      'Bearer hidden',
      { username: 'bob', groups: ['system:authenticated'] },
    ],
    ['a wrong token', 'Bearer secreT', undefined],
    ['a longer token', 'Bearer secret1', undefined],
    ['a prefix of a token', 'Bearer secre', undefined],
    ['a token that is far too long', `Bearer ${'x'.repeat(20_000)}`, undefined],
    ['nothing', undefined, ANONYMOUS],
    ['an empty token', 'Bearer ', ANONYMOUS],
    ['two spaces', 'Bearer  secret', ANONYMOUS],
    ['a password', 'Basic Zm9vOmJhcg==', ANONYMOUS],
  ])('authenticates %s', (_name, header, user) => {
    expect(who(header)).toEqual(user);
  });

  it('authenticates ServiceAccounts by their tokens', () => {
    expect(who(`Bearer ${accountToken}`)?.username).toBe('system:serviceaccount:ns:sa');
  });

  it('prefers a certificate to a token and records its fingerprint', () => {
    const certificate = { commonName: 'cat', organizations: ['o'], fingerprint: 'ab' };
    expect(who('Bearer wrong', { certificate })).toEqual({
      username: 'cat',
      groups: ['o', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'] },
    });
    expect(who(undefined, { certificate: { commonName: '', organizations: ['system:masters'] } })).toBe(ANONYMOUS);
  });

  it('does not treat a request with an invalid certificate as anonymous', () => {
    expect(who(undefined, { hasInvalidCertificate: true })).toBeUndefined();
    expect(who('Bearer secret', { hasInvalidCertificate: true })).toEqual(ann);
  });

  it('treats every request over plain HTTP as anonymous', () => {
    expect(who('Bearer secret', { isSecure: false })).toBe(ANONYMOUS);
    expect(who('Bearer wrong', { isSecure: false })).toBe(ANONYMOUS);
  });

  it('accepts static tokens for the audience of this server only', () => {
    expect(authenticator.authenticateToken('secret', ['x', ...serviceAccounts.audiences])).toEqual({
      user: ann,
      audiences: serviceAccounts.audiences,
    });
    expect(authenticator.authenticateToken('secret', ['x'])).toEqual({ problem: undefined });
  });
});
