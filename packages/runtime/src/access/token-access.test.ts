import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { TokenAccess, type TokenAccessOptions } from './token-access.ts';

const token = (authenticated: boolean, more: object = {}): ScriptedResponse => ({
  status: 201,
  body: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: {},
    status: { authenticated, user: { username: 'ann', groups: ['team'], extra: { a: ['b'] } }, ...more },
  },
});
const permission = (allowed: boolean, reason?: string): ScriptedResponse => ({
  status: 201,
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {}, status: { allowed, reason } },
});
const broken: ScriptedResponse = {
  status: 500,
  body: { kind: 'Status', status: 'Failure', code: 500, reason: 'InternalError' },
};
const ann = { user: 'ann', groups: ['team'], extra: { a: ['b'] } };
const metrics = { verb: 'get', path: '/metrics' };
const shop = { verb: 'get', group: 'example.com', resource: 'shops', namespace: 'ns', name: 'tea' };

function accessTo(answers: readonly ScriptedResponse[], options: Partial<TokenAccessOptions> = {}) {
  const transport = new ScriptedTransport(...answers);
  const clock = new VirtualClock();
  const access = new TokenAccess({ client: createClient({ transport, wire: clock }), clock, ...options });
  const decide = async (bearer: string, question: Parameters<TokenAccess['decide']>[1] = metrics): Promise<string> =>
    (await access.decide(`Bearer ${bearer}`, question)).verdict;
  const kinds = (): unknown[] => transport.requests.map((_, index) => (transport.sent(index) as { kind: string }).kind);
  return { transport, clock, access, decide, kinds };
}

describe('TokenAccess', () => {
  it('reviews the token, and whether its user may request a path', async () => {
    const { access, transport } = accessTo([token(true), permission(true)]);
    expect(await access.decide('Bearer abc', metrics)).toEqual({ verdict: 'allowed', user: ann });
    expect(transport.sent(0)).toMatchObject({ kind: 'TokenReview', spec: { token: 'abc' } });
    expect(transport.sent(1)).toMatchObject({
      kind: 'SubjectAccessReview',
      spec: { ...ann, nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
  });

  it('reviews whether its user may act on an object, and returns why not', async () => {
    const { access, transport } = accessTo([token(true), permission(false, 'no rule')]);
    expect(await access.decide('Bearer abc', shop)).toEqual({ verdict: 'forbidden', user: ann, reason: 'no rule' });
    expect(transport.sent(1)).toMatchObject({ spec: { ...ann, resourceAttributes: shop } });
  });

  it.each([undefined, '', 'Basic abc', 'Bearer', 'Bearer a b'])('sends no review for %j', async (authorization) => {
    const { access, transport } = accessTo([]);
    expect(await access.decide(authorization, metrics)).toEqual({ verdict: 'unauthenticated' });
    expect(transport.requests).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['accepts a token of one of its audiences', { audiences: ['shop-api', 'other'] }, 'allowed'],
    ['rejects a token of another audience', { audiences: ['other'] }, 'unauthenticated'],
    ['rejects a token whose audience was not checked', {}, 'unauthenticated'],
  ])('%s', async (_, status, verdict) => {
    const { decide, transport } = accessTo([token(true, status), permission(true)], {
      audiences: ['shop-api', 'shop-cli'],
    });
    expect(await decide('a')).toBe(verdict);
    expect(transport.sent(0)).toMatchObject({ spec: { audiences: ['shop-api', 'shop-cli'] } });
  });

  it('rejects a token without a user name', async () => {
    const { decide } = accessTo([token(true, { user: {} })]);
    expect(await decide('a')).toBe('unauthenticated');
  });

  it('caches grants for a minute and denials for ten seconds', async () => {
    const { decide, clock, kinds, transport } = accessTo([
      ...[token(true), permission(true), permission(false), token(false)],
      ...[permission(false), token(false)],
      ...[token(true), permission(true)],
    ]);
    expect([await decide('a'), await decide('a')]).toEqual(['allowed', 'allowed']);
    expect([await decide('a', shop), await decide('a', shop)]).toEqual(['forbidden', 'forbidden']);
    expect([await decide('b'), await decide('b')]).toEqual(['unauthenticated', 'unauthenticated']);
    expect(kinds()).toEqual(['TokenReview', 'SubjectAccessReview', 'SubjectAccessReview', 'TokenReview']);
    await clock.advance(10_000);
    expect(await decide('a', shop)).toBe('forbidden');
    expect(await decide('b')).toBe('unauthenticated');
    expect(await decide('a')).toBe('allowed');
    expect(transport.requests).toHaveLength(6);
    await clock.advance(50_000);
    expect(await decide('a')).toBe('allowed');
    expect(transport.requests).toHaveLength(8);
  });

  it('caches a decision for the user and the question, not for the token', async () => {
    const { decide, kinds } = accessTo([token(true), permission(true), token(true), permission(false)]);
    expect(await decide('a', shop)).toBe('allowed');
    const sameInAnotherOrder = { name: 'tea', namespace: 'ns', resource: 'shops', group: 'example.com', verb: 'get' };
    expect(await decide('renewed', sameInAnotherOrder)).toBe('allowed');
    expect(await decide('a', { ...shop, verb: 'delete' })).toBe('forbidden');
    expect(kinds()).toEqual(['TokenReview', 'SubjectAccessReview', 'TokenReview', 'SubjectAccessReview']);
  });

  it('keeps known tokens while others are guessed', async () => {
    const guesses = Array.from({ length: 10 }, () => token(false));
    const { decide, transport } = accessTo([token(true), permission(true), ...guesses], { maxCached: 2 });
    expect(await decide('known')).toBe('allowed');
    for (let guess = 0; guess < 10; guess++) expect(await decide(`guess-${guess}`)).toBe('unauthenticated');
    expect(await decide('known')).toBe('allowed');
    expect(transport.requests).toHaveLength(12);
  });

  it('sends one review for concurrent requests, and fails when too many are running', async () => {
    const { decide, transport } = accessTo([token(false), token(false), token(false)], { maxInFlight: 2 });
    expect(await Promise.all([decide('a'), decide('a')])).toEqual(['unauthenticated', 'unauthenticated']);
    expect(transport.requests).toHaveLength(1);
    const results = await Promise.allSettled([decide('b'), decide('c'), decide('d')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(results[2]).toMatchObject({ reason: { code: 'BOWLINE_ACCESS_REVIEW', retryable: true } });
  });

  it.each<[string, readonly ScriptedResponse[]]>([
    ['token', [broken, token(true), permission(true)]],
    ['permission', [token(true), broken, permission(true)]],
  ])('throws when the review of a %s fails, and reviews it again', async (_, answers) => {
    const { decide } = accessTo(answers);
    await expect(decide('secret-token')).rejects.toMatchObject({
      code: 'BOWLINE_ACCESS_REVIEW',
      retryable: true,
      message: expect.not.stringContaining('secret-token') as unknown,
    });
    expect(await decide('secret-token')).toBe('allowed');
  });
});
