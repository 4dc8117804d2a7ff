import { VirtualClock } from '@bowline/machinery';
import { createClient } from '@bowline/runtime/client';
import { describe, expect, test } from 'vitest';
import { AccessReviews, type AccessReviewsOptions } from './access-reviews.ts';
import { ReviewingTransport } from './reviewing-transport.test-support.ts';
import { describeRights, type Right } from './rights.ts';
import { reviewServiceAccount } from './service-account.ts';

const alice = { user: 'alice', groups: ['dev'], uid: '1', extra: { scope: ['x'] } };
const create = (namespace: string): Right => ({ verb: 'create', resource: 'configmaps', namespace });
const get = (namespace: string, name: string): Right => ({ verb: 'get', resource: 'configmaps', namespace, name });

function reviewing(allowed: string[], options: Partial<AccessReviewsOptions> = {}) {
  const transport = new ReviewingTransport(...allowed);
  const client = createClient({ transport });
  const clock = new VirtualClock();
  const reviewedRights = (): string[] => transport.sentReviews.map(({ right }) => right);
  return { transport, client, clock, reviewedRights, reviews: new AccessReviews({ client, clock, ...options }) };
}

describe('AccessReviews', () => {
  test('reviews the whole subject, with one request for one permission', async () => {
    const { reviews, transport, reviewedRights } = reviewing(['get configmaps a/m']);
    expect(await reviews.missing(alice, [get('a', 'm')])).toEqual([]);
    expect(reviewedRights()).toEqual(['get configmaps a/m']);
    expect(transport.sentReviews[0]?.spec).toMatchObject(alice);
  });

  test('reviews the whole cluster first for several namespaces', async () => {
    const { reviews, reviewedRights } = reviewing(['create configmaps */*']);
    expect(await reviews.missing(alice, ['a', 'b', 'c'].map(create))).toEqual([]);
    expect(reviewedRights()).toEqual(['create configmaps */*']);
  });

  test('reviews each namespace if the cluster-wide permission is missing', async () => {
    const { reviews, reviewedRights } = reviewing(['create configmaps a/*', 'create configmaps c/*']);
    expect(await reviews.missing(alice, ['a', 'b', 'c'].map(create))).toEqual([create('b')]);
    expect(reviewedRights()).toEqual(['*', 'a', 'b', 'c'].map((place) => `create configmaps ${place}/*`));
  });

  test('stops at the maximum number of missing permissions', async () => {
    const { reviews, reviewedRights } = reviewing([]);
    const everywhere = Array.from({ length: 200 }, (_, index) => create(`n${index}`));
    expect(await reviews.missing(alice, everywhere)).toEqual(everywhere.slice(0, 5));
    expect(reviewedRights().length).toBeLessThan(20);
  });

  test('caches responses for 30 s, per subject', async () => {
    const { reviews, reviewedRights, clock } = reviewing(['get configmaps a/m']);
    await reviews.missing(alice, [get('a', 'm'), create('b')]);
    await clock.advance(29_000);
    expect(await reviews.missing(alice, [get('a', 'm'), create('b')])).toEqual([create('b')]);
    expect(reviewedRights()).toHaveLength(2);
    for (const other of [
      { ...alice, groups: [] },
      { ...alice, user: 'bob' },
      { ...alice, extra: {} },
    ]) {
      await reviews.missing(other, [get('a', 'm')]);
    }
    expect(reviewedRights()).toHaveLength(5);
    await clock.advance(1_001);
    await reviews.missing(alice, [get('a', 'm')]);
    expect(reviewedRights()).toHaveLength(6);
  });

  test('caches nothing with keepMs 0', async () => {
    const { reviews, reviewedRights } = reviewing([], { keepMs: 0 });
    await reviews.missing(alice, [get('a', 'm')]);
    await reviews.missing(alice, [get('a', 'm')]);
    expect(reviewedRights()).toHaveLength(2);
  });

  test('reviews only single namespaces without cluster-wide permissions', async () => {
    const { reviews, transport } = reviewing(['create configmaps */*'], { local: true });
    const all: Right = { verb: 'create', resource: 'configmaps' };
    expect(await reviews.missing(alice, [create('a'), create('b'), all])).toEqual([all]);
    expect(transport.sentReviews.map(({ right, local }) => [right, local])).toEqual([
      ['create configmaps a/*', true],
      ['create configmaps b/*', true],
    ]);
  });

  test('throws if a review fails', async () => {
    const failing = { canSubject: () => Promise.reject(new Error('down')) };
    const reviews = new AccessReviews({ client: failing, clock: new VirtualClock() });
    await expect(reviews.missing(alice, [create('a')])).rejects.toThrow('down');
  });
});

describe('reviewServiceAccount', () => {
  const account = { namespace: 'team', name: 'syncer' };
  const path = '/api/v1/namespaces/team/serviceaccounts/syncer';
  const rights = [get('a', 'm'), create('b')];

  test('reports a missing account', async () => {
    const { client, reviews, reviewedRights } = reviewing([]);
    const verdict = await reviewServiceAccount({ live: client, reviews, account, rights });
    expect(verdict).toMatchObject({ granted: false, reason: 'ServiceAccountNotFound' });
    expect(verdict.message).toContain('team/syncer does not exist');
    expect(reviewedRights()).toEqual([]);
  });

  test('reports the permissions that the account lacks', async () => {
    const { client, reviews, transport } = reviewing(['get configmaps a/m']);
    transport.objects.add(path);
    const verdict = await reviewServiceAccount({ live: client, reviews, account, rights });
    expect(verdict).toMatchObject({ granted: false, reason: 'InsufficientPermissions', missing: [create('b')] });
    expect(verdict.message).toContain('create configmaps in namespace b');
    expect(transport.sentReviews[0]?.spec).toMatchObject({
      user: 'system:serviceaccount:team:syncer',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
    });
  });

  test('grants an account with all permissions', async () => {
    const { client, reviews, transport } = reviewing(['get configmaps */*', 'create configmaps b/*']);
    transport.objects.add(path);
    expect(await reviewServiceAccount({ live: client, reviews, account, rights })).toMatchObject({ granted: true });
  });
});

describe('describeRights', () => {
  test('describes verb, resource, name and namespace', () => {
    const everywhere: Right = { verb: 'delete', resource: 'configmaps' };
    const account: Right = { verb: 'impersonate', resource: 'serviceaccounts', namespace: 'a', name: 'x' };
    expect(describeRights([get('a', 'm'), everywhere, account])).toBe(
      'get configmap m in namespace a; delete configmaps in every namespace; impersonate serviceaccount x in namespace a',
    );
  });
});
