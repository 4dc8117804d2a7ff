import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { AccessQuestion } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { AccessReviews, type AccessReviewsOptions } from './access-reviews.ts';
import { ReviewingTransport } from './reviewing-transport.test-support.ts';

const alice = { user: 'alice', groups: ['dev'], uid: '1', extra: { scope: ['x'] } };
const create = (namespace: string): AccessQuestion => ({ verb: 'create', resource: 'configmaps', namespace });
const get = (namespace: string, name: string): AccessQuestion => ({
  verb: 'get',
  resource: 'configmaps',
  namespace,
  name,
});

function reviewing(allowed: string[], options: Partial<AccessReviewsOptions> = {}) {
  const transport = new ReviewingTransport(...allowed);
  const clock = new VirtualClock();
  const reviewed = (): string[] => transport.sentReviews.map(({ question }) => question);
  const reviews = new AccessReviews({ client: createClient({ transport }), clock, ...options });
  return { transport, clock, reviewed, reviews };
}

describe('AccessReviews', () => {
  it('reviews the whole subject, with one request for one permission', async () => {
    const { reviews, transport, reviewed } = reviewing(['get configmaps a/m']);
    expect(await reviews.missing(alice, [get('a', 'm')])).toEqual([]);
    expect(reviewed()).toEqual(['get configmaps a/m']);
    expect(transport.sentReviews[0]?.spec).toMatchObject(alice);
  });

  it('reviews the whole cluster first for several namespaces', async () => {
    const { reviews, reviewed } = reviewing(['create configmaps */*']);
    expect(await reviews.missing(alice, ['a', 'b', 'c'].map(create))).toEqual([]);
    expect(reviewed()).toEqual(['create configmaps */*']);
  });

  it('reviews each namespace if the cluster-wide permission is missing', async () => {
    const { reviews, reviewed } = reviewing(['create configmaps a/*', 'create configmaps c/*']);
    expect(await reviews.missing(alice, ['a', 'b', 'c'].map(create))).toEqual([create('b')]);
    expect(reviewed()).toEqual(['*', 'a', 'b', 'c'].map((place) => `create configmaps ${place}/*`));
  });

  it('stops at the maximum number of missing permissions', async () => {
    const { reviews, reviewed } = reviewing([]);
    const everywhere = Array.from({ length: 200 }, (_, index) => create(`n${index}`));
    expect(await reviews.missing(alice, everywhere)).toEqual(everywhere.slice(0, 5));
    expect(reviewed().length).toBeLessThan(20);
  });

  it('caches responses for 30 s, per subject', async () => {
    const { reviews, reviewed, clock } = reviewing(['get configmaps a/m']);
    await reviews.missing(alice, [get('a', 'm'), create('b')]);
    await clock.advance(29_000);
    expect(await reviews.missing(alice, [get('a', 'm'), create('b')])).toEqual([create('b')]);
    expect(reviewed()).toHaveLength(2);
    for (const other of [
      { ...alice, groups: [] },
      { ...alice, user: 'bob' },
      { ...alice, extra: {} },
    ]) {
      await reviews.missing(other, [get('a', 'm')]);
    }
    expect(reviewed()).toHaveLength(5);
    await clock.advance(1_001);
    await reviews.missing(alice, [get('a', 'm')]);
    expect(reviewed()).toHaveLength(6);
  });

  it('caches nothing with keepMs 0', async () => {
    const { reviews, reviewed } = reviewing([], { keepMs: 0 });
    await reviews.missing(alice, [get('a', 'm')]);
    await reviews.missing(alice, [get('a', 'm')]);
    expect(reviewed()).toHaveLength(2);
  });

  it('reviews only single namespaces without cluster-wide permissions', async () => {
    const { reviews, transport } = reviewing(['create configmaps */*'], { local: true });
    const all: AccessQuestion = { verb: 'create', resource: 'configmaps' };
    expect(await reviews.missing(alice, [create('a'), create('b'), all])).toEqual([all]);
    expect(transport.sentReviews.map(({ question, local }) => [question, local])).toEqual([
      ['create configmaps a/*', true],
      ['create configmaps b/*', true],
    ]);
  });

  it('throws if a review fails', async () => {
    const failing = { canSubject: () => Promise.reject(new Error('down')) };
    const reviews = new AccessReviews({ client: failing, clock: new VirtualClock() });
    await expect(reviews.missing(alice, [create('a')])).rejects.toThrow('down');
  });

  it('tells groups and subresources apart', async () => {
    const { reviews, reviewed } = reviewing([]);
    const questions: AccessQuestion[] = [
      { verb: 'get', resource: 'pods', namespace: 'a', name: 'p' },
      { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'a', name: 'p' },
      { verb: 'get', group: 'example.com', resource: 'pods', namespace: 'a', name: 'p' },
    ];
    expect(await reviews.missing(alice, questions)).toEqual(questions);
    expect(reviewed()).toEqual(['get pods a/p', 'get pods/log a/p', 'get pods.example.com a/p']);
  });

  it('shares a review between concurrent searches, and goes on when one of them is aborted', async () => {
    const { reviews, reviewed } = reviewing(['get configmaps a/m']);
    const abort = new AbortController();
    const first = reviews.missing(alice, [get('a', 'm')], { signal: abort.signal });
    const second = reviews.missing(alice, [get('a', 'm')], { signal: new AbortController().signal });
    abort.abort(new Error('no longer needed'));
    await expect(first).rejects.toThrow('no longer needed');
    expect(await second).toEqual([]);
    await expect(reviews.missing(alice, [create('b')], { signal: abort.signal })).rejects.toThrow('no longer needed');
    expect(reviewed()).toEqual(['get configmaps a/m']);
  });
});
