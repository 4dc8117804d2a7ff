import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { VirtualClock } from '@bowline/machinery';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Storage } from '../storage/storage.ts';
import { type JwtKey, jwtKey } from './jwt.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const ISSUER = 'https://kubernetes.default.svc';
const START = Date.parse('2026-01-01T00:00:00Z');
const NOW = START / 1000;

const CRYPTO = 'go-jose/go-jose: error in cryptographic primitive';
const INCOMPLETE = 'service account token claims are incomplete';

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

let ec: JwtKey;
let rsa: JwtKey;
let unknownKey: JwtKey;
beforeAll(() => {
  ec = jwtKey(pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey));
  unknownKey = jwtKey(pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey));
  rsa = jwtKey(pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey));
});

let clock: VirtualClock;
let storage: Storage;
let tokens: ServiceAccountTokens;

function put(collection: string, key: string, uid: string, more: object = {}): void {
  const [namespace, name] = key.split('/');
  const object = { metadata: { name, namespace, uid, ...more } };
  const old = storage.get(collection, key);
  if (old) storage.update(collection, key, old.revision, object);
  else storage.create(collection, key, object);
}

function remove(collection: string, key: string): void {
  storage.remove(collection, key, storage.get(collection, key)?.revision ?? 0, { metadata: {} });
}

beforeEach(() => {
  clock = new VirtualClock({ startMs: START });
  storage = new Storage({ clock });
  tokens = new ServiceAccountTokens({ storage, clock, key: ec, olderKeys: [rsa] });
  put('serviceaccounts', 'ns/sa', 'sa-uid');
});

const issued = {
  audiences: [ISSUER],
  id: 'jti',
  namespace: 'ns',
  serviceAccount: { name: 'sa', uid: 'sa-uid' },
  issuedAt: NOW,
  notBefore: NOW,
  expiresAt: NOW + 3600,
};

const good = {
  aud: [ISSUER],
  exp: NOW + 3600,
  iat: NOW,
  nbf: NOW,
  iss: ISSUER,
  jti: 'jti',
  sub: 'system:serviceaccount:ns:sa',
  'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'sa', uid: 'sa-uid' } },
};

function forged(claims: object, header: object = {}, key: JwtKey = ec): string {
  const text = `${encode({ alg: key.algorithm, kid: key.id, ...header })}.${encode(claims)}`;
  if (!key.privateKey) throw new TypeError('this key cannot sign');
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

const outcome = (token: string, audiences?: readonly string[]): unknown => tokens.authenticate(token, audiences);
const isAuthenticated = (token: string): boolean => 'user' in tokens.authenticate(token);

describe('ServiceAccount tokens', () => {
  it('authenticate the account, with its groups and the id of the token', () => {
    expect(outcome(tokens.issue(issued))).toEqual({
      user: {
        username: 'system:serviceaccount:ns:sa',
        uid: 'sa-uid',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=jti'] },
      },
      audiences: [ISSUER],
    });
  });

  it('carry the same claims as those of the real server, and the key id in their header', () => {
    const [header = '', body = ''] = tokens.issue(issued).split('.');
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect([read(header), read(body)]).toEqual([{ alg: 'ES256', kid: ec.id }, good]);
  });

  it('are signed with RSA if the key is an RSA key, and stay valid for older keys', () => {
    const signedByRsa = new ServiceAccountTokens({ storage, clock, key: rsa }).issue(issued);
    expect(signedByRsa.startsWith(encode({ alg: 'RS256', kid: rsa.id }))).toBe(true);
    expect(isAuthenticated(signedByRsa)).toBe(true);
  });

  it('are valid for the matching audiences, in the requested order', () => {
    const token = tokens.issue({ ...issued, audiences: ['a', 'b'] });
    expect(outcome(token, ['b', 'c', 'a'])).toMatchObject({ audiences: ['b', 'a'] });
    expect(outcome(token)).toEqual({
      problem: `token audiences ["a" "b"] is invalid for the target audiences ["${ISSUER}"]`,
    });
  });

  it('contain the Pod and the node that they are bound to', () => {
    put('pods', 'ns/p', 'p-uid');
    const bound = { pod: { name: 'p', uid: 'p-uid' }, node: { name: 'gone', uid: 'n-uid' } };
    expect(outcome(tokens.issue({ ...issued, ...bound }))).toMatchObject({
      user: {
        extra: {
          'authentication.kubernetes.io/node-name': ['gone'],
          'authentication.kubernetes.io/node-uid': ['n-uid'],
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['p-uid'],
        },
      },
    });
  });

  it('expire a minute late even if their signature is cached', async () => {
    const token = tokens.issue(issued);
    expect(isAuthenticated(token)).toBe(true);
    await clock.advance(3_660_000);
    expect(isAuthenticated(token)).toBe(true);
    await clock.advance(1);
    expect(outcome(token)).toEqual({ problem: 'service account token has expired' });
  });

  it('are invalid once their account is deleted or recreated', () => {
    const token = tokens.issue(issued);
    expect(isAuthenticated(token)).toBe(true);
    remove('serviceaccounts', 'ns/sa');
    expect(outcome(token)).toEqual({ problem: 'serviceaccounts "sa" not found' });
    put('serviceaccounts', 'ns/sa', 'other');
    expect(outcome(token)).toEqual({ problem: 'service account UID (other) does not match claim (sa-uid)' });
  });

  it.each([
    ['secret', 'secrets', 'ns/x'],
    ['pod', 'pods', 'ns/x'],
    ['node', 'nodes', '/x'],
  ])('that are bound to a %s are invalid without it', (what, collection, key) => {
    const token = tokens.issue({ ...issued, [what]: { name: 'x', uid: 'x-uid' } });
    const invalidated = { problem: 'service account token has been invalidated' };
    expect(outcome(token)).toEqual(invalidated);
    put(collection, key, 'x-uid');
    expect(isAuthenticated(token)).toBe(true);
    put(collection, key, 'x-uid', { deletionTimestamp: '2025-12-31T23:59:00Z' });
    expect(isAuthenticated(token)).toBe(true);
    put(collection, key, 'x-uid', { deletionTimestamp: '2025-12-31T23:58:59Z' });
    expect(outcome(token)).toEqual(invalidated);
    remove(collection, key);
    put(collection, key, 'other');
    expect(outcome(token)).toEqual({
      problem: `${what} UID (other) does not match service account ${what} ref claim (x-uid)`,
    });
  });

  // The messages of the real server for the same tokens, where it reports more than that a token is not its own.
  it.each<[string, () => string, string | undefined]>([
    ['signed by another key with the same id', () => forged(good, { kid: ec.id }, unknownKey), CRYPTO],
    ['signed by an unknown key', () => forged(good, {}, unknownKey), 'invalid signature, no keys found'],
    ['with a claim changed', () => withClaims(tokens.issue(issued), { ...good, jti: 'x' }), CRYPTO],
    ['that claims not to be signed', () => forged(good, { alg: 'none' }), CRYPTO],
    ['that claims another algorithm', () => forged(good, { alg: 'RS256' }), CRYPTO],
    ['signed with the public key as an HMAC secret', () => signedWithPublicKey(), CRYPTO],
    ['with a critical header extension', () => forged(good, { crit: ['x'], x: 1 }), CRYPTO],
    ['of another issuer', () => forged({ ...good, iss: 'other' }), undefined],
    ['without an issuer', () => forged({ ...good, iss: undefined }), undefined],
    ['that is not valid yet', () => forged({ ...good, nbf: NOW + 61 }), 'service account token is not valid yet'],
    ['from the future', () => forged({ ...good, iat: NOW + 61 }), 'service account token is issued in the future'],
    ['that expired', () => forged({ ...good, exp: NOW - 61 }), 'service account token has expired'],
    [
      'without an audience',
      () => forged({ ...good, aud: [] }),
      `token audiences [] is invalid for the target audiences ["${ISSUER}"]`,
    ],
    ['without an expiry', () => forged({ ...good, exp: undefined }), INCOMPLETE],
    ['with an expiry that is not a number', () => forged({ ...good, exp: 'x' }), INCOMPLETE],
    ['without an account', () => forged({ ...good, 'kubernetes.io': undefined }), INCOMPLETE],
    [
      'without the uid of its account',
      () => forged({ ...good, 'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'sa' } } }),
      INCOMPLETE,
    ],
    [
      'with an invalid bound object',
      () => forged({ ...good, 'kubernetes.io': { ...good['kubernetes.io'], pod: 'p' } }),
      INCOMPLETE,
    ],
    ['that is not a token', () => 'foo', undefined],
    ['with empty parts', () => '..', undefined],
    ['with one part too many', () => `${forged(good)}.x`, undefined],
    ['with padding', () => `${forged(good)}=`, undefined],
    ['whose body is not an object', () => forged([good]), undefined],
  ])('refuses one %s', (_name, token, problem) => {
    expect(outcome(token())).toEqual({ problem });
    // A second time too: rejected tokens are not cached.
    expect(outcome(token())).toEqual({ problem });
  });

  it('accepts a token without a key id from any of its keys, and one with a single audience', () => {
    expect(isAuthenticated(forged(good, { kid: undefined }))).toBe(true);
    expect(isAuthenticated(forged({ ...good, aud: ISSUER }))).toBe(true);
  });
});

describe('jwtKey', () => {
  it.each([
    ['text that is not a key', () => 'nothing'],
    ['a key of another type', () => pemOf(generateKeyPairSync('ed25519').privateKey)],
    ['a key on another curve', () => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey)],
  ])('refuses %s', (_name, pem) => {
    expect(() => jwtKey(pem())).toThrow(expect.objectContaining({ code: 'BOWLINE_TOKEN_KEY' }));
  });
});

function withClaims(token: string, claims: object): string {
  const [header, , signature] = token.split('.');
  return [header, encode(claims), signature].join('.');
}

function signedWithPublicKey(): string {
  const text = `${encode({ alg: 'HS256', kid: ec.id })}.${encode(good)}`;
  const secret = ec.publicKey.export({ type: 'spki', format: 'pem' });
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
