import type { Deployment, ReplicaSet } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { scaleProportionally } from './proportional.ts';
import { DESIRED, MAXIMUM } from './revisions.ts';
import { roomOf, shrinkOld, sizeOfNew } from './rolling.ts';

const template = {};

function deployment(replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment {
  const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
  return { metadata: { name: 'web' }, spec: { replicas, selector: {}, template, strategy } };
}

function set(name: string, replicas: number, available = replicas, annotations = {}): ReplicaSet {
  const creationTimestamp = `2026-01-01T00:00:0${name.length}Z`;
  return {
    metadata: { name, creationTimestamp, annotations },
    spec: { replicas, selector: {}, template },
    status: { replicas, availableReplicas: available },
  };
}

const sizes = (scalings: readonly { readonly set: ReplicaSet; readonly replicas: number }[]) =>
  Object.fromEntries(scalings.map((each) => [each.set.metadata?.name, each.replicas]));

describe('a rolling update', () => {
  it.each([
    [10, '25%', '25%', { maxSurge: 3, maxUnavailable: 2 }],
    [1, '25%', '25%', { maxSurge: 1, maxUnavailable: 0 }],
    [3, 0, '10%', { maxSurge: 0, maxUnavailable: 1 }],
    [2, 1, 5, { maxSurge: 1, maxUnavailable: 2 }],
  ])('of %i with a surge of %s and %s unavailable has room for %o', (replicas, surge, unavailable, room) => {
    expect(roomOf(deployment(replicas, surge, unavailable))).toEqual(room);
  });

  it.each([
    ['grows the new set as far as the surge allows', 3, 1, 0, [3, 0], 1],
    ['does not grow it while there is no room', 3, 1, 0, [3, 1], 1],
    ['grows it by what the old sets gave up', 3, 1, 0, [1, 1], 3],
    ['never grows it beyond what is wanted', 3, 3, 0, [0, 2], 3],
  ])('%s', (_, replicas, surge, unavailable, [old = 0, current = 0], expected) => {
    const all = [set('old', old), set('newest', current)];
    expect(sizeOfNew(deployment(replicas, surge, unavailable), all, current)).toBe(expected);
  });

  it.each([
    ['keeps what must be available', deployment(3, 1, 0), set('new', 1, 0), [set('a', 3)], {}],
    ['takes one away for each that has come', deployment(3, 1, 0), set('new', 1), [set('a', 3)], { a: 2 }],
    ['takes away as many as may be missing', deployment(4, 0, 2), set('new', 0), [set('a', 4)], { a: 2 }],
    ['takes the broken ones first', deployment(3, 1, 0), set('new', 1), [set('a', 2), set('bb', 1, 0)], { bb: 0 }],
    ['begins with the oldest', deployment(4, 2, 0), set('new', 2), [set('a', 2), set('bb', 2)], { a: 0 }],
  ])('%s', (_, of, newest, old, expected) => {
    expect(sizes(shrinkOld(of, newest, old))).toEqual(expected);
  });
});

describe('a change of size', () => {
  it('goes to the only set there is', () => {
    expect(sizes(scaleProportionally(deployment(5, 1, 0), set('new', 3), [set('a', 0)]))).toEqual({ new: 5 });
  });

  it('is shared in the middle of a rollout, and nothing is lost in rounding', () => {
    const notes = { [DESIRED]: '10', [MAXIMUM]: '13' };
    const scalings = scaleProportionally(deployment(20, 3, 0), set('new', 5, 3, notes), [set('a', 8, 8, notes)]);
    const total = scalings.reduce((sum, { replicas }) => sum + replicas, 0);
    expect(total).toBe(23);
    expect(sizes(scalings)).toEqual({ a: 14, new: 9 });
  });

  it('empties the old sets when the new one is as large as wanted', () => {
    const done = set('new', 3, 3, { [DESIRED]: '3' });
    expect(sizes(scaleProportionally(deployment(3, 1, 0), done, [set('a', 2)]))).toEqual({ a: 0 });
  });
});
