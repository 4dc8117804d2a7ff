import { describe, expect, it } from 'vitest';
import { Authenticator } from './authenticator.ts';
import { HMAC, OWN, secretOf, signed, sync, TOKEN } from './receiver.test-support.ts';
import { sharedSecret } from './shared-secret.ts';

const BODY = Buffer.from('{"ref":"v2"}');
const KEY = { namespace: 'plant', name: 'site' };

interface Given {
  readonly hmac?: string;
  readonly token?: string;
  readonly own?: string;
  /** Whether spec.webhook.secretRef is set. Defaults to whether there is a secret. */
  readonly hasRef?: boolean;
  readonly isUnknown?: boolean;
  readonly allowUnauthenticated?: boolean;
}

function isAuthentic(headers: Readonly<Record<string, string>>, given: Given = { hmac: HMAC }): boolean {
  const { hmac, token, own, hasRef = own !== undefined, isUnknown = false, allowUnauthenticated } = given;
  const authenticator = new Authenticator({
    secrets: {
      hmac: () => (hmac === undefined ? undefined : sharedSecret(hmac)),
      token: () => (token === undefined ? undefined : sharedSecret(token)),
      ofSync: () => (own === undefined ? undefined : sharedSecret(own)),
    },
    findSync: () => (isUnknown ? undefined : sync({ hasSecret: hasRef })),
    allowUnauthenticated,
  });
  return authenticator.isAuthentic(headers, BODY, KEY);
}

const github = (secret = HMAC, body: string | Uint8Array = BODY) => ({
  'x-hub-signature-256': `sha256=${signed(body, secret)}`,
});

describe('a request is authentic', () => {
  it.each<[string, Readonly<Record<string, string>>, Given]>([
    ['signed as by GitHub', github(), { hmac: HMAC }],
    ['with an upper-case signature', { 'x-hub-signature-256': `sha256=${signed(BODY).toUpperCase()}` }, { hmac: HMAC }],
    ['with a SHA-1 signature beside it', { ...github(), 'x-hub-signature': `sha1=${'a'.repeat(40)}` }, { hmac: HMAC }],
    ['signed as by Bitbucket', { 'x-hub-signature': `sha256=${signed(BODY)}` }, { hmac: HMAC }],
    ['signed as by Gitea', { 'x-gitea-signature': signed(BODY) }, { hmac: HMAC }],
    ['with the token of GitLab', { 'x-gitlab-token': HMAC }, { hmac: HMAC }],
    [
      'with a token that is not ASCII',
      { 'x-gitlab-token': Buffer.from('größe').toString('latin1') },
      { hmac: 'größe' },
    ],
    ['with a bearer token', { authorization: `Bearer ${TOKEN}` }, { token: TOKEN }],
    ['with a bearer token in another case', { authorization: `bearer ${TOKEN}` }, { token: TOKEN }],
    ['signed with the secret of its IgnitionSync', github(OWN), { own: OWN }],
    ['signed with that secret, beside a global one', github(OWN), { hmac: HMAC, token: TOKEN, own: OWN }],
    ['with that secret as the token of GitLab', { 'x-gitlab-token': OWN }, { own: OWN }],
    ['signed with the global secret for an unknown IgnitionSync', github(), { hmac: HMAC, isUnknown: true }],
    ['signed with a secret from a file that ends in a line break', github(), { hmac: `${HMAC}\r\n` }],
    ['signed with a long secret', github('x'.repeat(100)), { hmac: 'x'.repeat(100) }],
    ['without authentication if that is allowed', {}, { allowUnauthenticated: true }],
  ])('%s', (_, headers, given) => {
    expect(isAuthentic(headers, given)).toBe(true);
  });
});

describe('a request is not authentic', () => {
  it.each<[string, Readonly<Record<string, string>>, Given]>([
    ['without a signature', {}, { hmac: HMAC }],
    ['without configured authentication', github(), {}],
    ['with an empty secret', github(''), { hmac: '' }],
    ['with a signature by another secret', github('other'), { hmac: HMAC }],
    ['with the signature of another body', github(HMAC, '{}'), { hmac: HMAC }],
    ['without the prefix', { 'x-hub-signature-256': signed(BODY) }, { hmac: HMAC }],
    ['with a prefix in another case', { 'x-hub-signature-256': `SHA256=${signed(BODY)}` }, { hmac: HMAC }],
    ['with more digits', { 'x-hub-signature-256': `sha256=${signed(BODY)}00` }, { hmac: HMAC }],
    ['with fewer digits', { 'x-hub-signature-256': `sha256=${signed(BODY).slice(2)}` }, { hmac: HMAC }],
    ['with two signatures in one header', { 'x-gitea-signature': `${signed(BODY)}, ${signed(BODY)}` }, { hmac: HMAC }],
    ['with a digit that is none', { 'x-gitea-signature': `g${signed(BODY).slice(1)}` }, { hmac: HMAC }],
    ['with another token of GitLab', { 'x-gitlab-token': `${HMAC}x` }, { hmac: HMAC }],
    ['with an empty token of GitLab', { 'x-gitlab-token': '' }, { hmac: HMAC }],
    ['with the secret as a bearer token', { authorization: `Bearer ${HMAC}` }, { hmac: HMAC }],
    ['with the bearer token as the token of GitLab', { 'x-gitlab-token': TOKEN }, { token: TOKEN }],
    ['with another scheme', { authorization: `Basic ${TOKEN}` }, { token: TOKEN }],
    ['with another bearer token', { authorization: 'Bearer x' }, { token: TOKEN }],
    ['signed with the secret of an IgnitionSync that is unknown', github(OWN), { own: OWN, isUnknown: true }],
    ['signed with a secret that the IgnitionSync no longer names', github(OWN), { own: OWN, hasRef: false }],
    ['while the secret of its IgnitionSync is unreadable', {}, { hasRef: true, allowUnauthenticated: true }],
    ['if a global secret is configured', {}, { hmac: HMAC, allowUnauthenticated: true }],
    ['if a bearer token is configured', {}, { token: TOKEN, allowUnauthenticated: true }],
  ])('%s', (_, headers, given) => {
    expect(isAuthentic(headers, given)).toBe(false);
  });

  it('and then the IgnitionSync is looked up whether it exists or not, but never when it is authentic', () => {
    const lookups: string[] = [];
    const authenticator = new Authenticator({
      secrets: { hmac: () => secretOf(HMAC), token: () => undefined, ofSync: () => undefined },
      findSync: ({ name }) => {
        lookups.push(name);
        return undefined;
      },
    });
    expect(authenticator.isAuthentic(github(), BODY, KEY)).toBe(true);
    expect(lookups).toEqual([]);
    expect(authenticator.isAuthentic(github('other'), BODY, KEY)).toBe(false);
    expect(lookups).toEqual(['site']);
  });
});
