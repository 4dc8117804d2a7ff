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
    ['another scheme in other letters', 'bearer secret', ann],
    ['words behind the token', ' Bearer secret more ', ann],
    [
      'a token of somebody who is in the group already',
      'Bearer hidden',
      { username: 'bob', groups: ['system:authenticated'] },
    ],
    ['a wrong token', 'Bearer secreT', undefined],
    ['a longer token', 'Bearer secret1', undefined],
    ['the beginning of a token', 'Bearer secre', undefined],
    ['a token that is far too long', `Bearer ${'x'.repeat(20_000)}`, undefined],
    ['nothing', undefined, ANONYMOUS],
    ['an empty token', 'Bearer ', ANONYMOUS],
    ['two spaces', 'Bearer  secret', ANONYMOUS],
    ['a password', 'Basic Zm9vOmJhcg==', ANONYMOUS],
  ])('knows who shows %s', (_name, header, user) => {
    expect(who(header)).toEqual(user);
  });

  it('knows ServiceAccounts by their tokens', () => {
    expect(who(`Bearer ${accountToken}`)?.username).toBe('system:serviceaccount:ns:sa');
  });

  it('takes a certificate for more than a token, and says which one it was', () => {
    const certificate = { commonName: 'cat', organizations: ['o'], fingerprint: 'ab' };
    expect(who('Bearer wrong', { certificate })).toEqual({
      username: 'cat',
      groups: ['o', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'] },
    });
    expect(who(undefined, { certificate: { commonName: '', organizations: ['system:masters'] } })).toBe(ANONYMOUS);
  });

  it('does not take who shows a bad certificate for somebody who shows none', () => {
    expect(who(undefined, { hasInvalidCertificate: true })).toBeUndefined();
    expect(who('Bearer secret', { hasInvalidCertificate: true })).toEqual(ann);
  });

  it('takes everybody for anonymous where others may listen', () => {
    expect(who('Bearer secret', { isSecure: false })).toBe(ANONYMOUS);
    expect(who('Bearer wrong', { isSecure: false })).toBe(ANONYMOUS);
  });

  it('takes static tokens for tokens of this server alone', () => {
    expect(authenticator.authenticateToken('secret', ['x', ...serviceAccounts.audiences])).toEqual({
      user: ann,
      audiences: serviceAccounts.audiences,
    });
    expect(authenticator.authenticateToken('secret', ['x'])).toEqual({ problem: undefined });
  });
});
