import type { Deployment, ReplicaSet } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { scaleProportionally } from './proportional-scaling.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './revisions.ts';
import { newReplicaSetSize, rolloutBounds, scaleDownOld } from './rolling-update.ts';

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
  ])('of %i with a surge of %s and %s unavailable has the bounds %o', (replicas, surge, unavailable, bounds) => {
    expect(rolloutBounds(deployment(replicas, surge, unavailable))).toEqual(bounds);
  });

  it.each([
    ['scales the new set up as far as the surge allows', 3, 1, 0, [3, 0], 1],
    ['does not scale it up when the surge is used up', 3, 1, 0, [3, 1], 1],
    ['scales it up by as many as the old sets were scaled down', 3, 1, 0, [1, 1], 3],
    ['never scales it up beyond the desired replicas', 3, 3, 0, [0, 2], 3],
  ])('%s', (_, replicas, surge, unavailable, [old = 0, current = 0], expected) => {
    const all = [set('old', old), set('newest', current)];
    expect(newReplicaSetSize(deployment(replicas, surge, unavailable), all, current)).toBe(expected);
  });

  it.each([
    ['keeps as many old Pods as must be available', deployment(3, 1, 0), set('new', 1, 0), [set('a', 3)], {}],
    ['removes one old Pod for each new available one', deployment(3, 1, 0), set('new', 1), [set('a', 3)], { a: 2 }],
    ['removes as many old Pods as may be unavailable', deployment(4, 0, 2), set('new', 0), [set('a', 4)], { a: 2 }],
    ['removes unavailable Pods first', deployment(3, 1, 0), set('new', 1), [set('a', 2), set('bb', 1, 0)], { bb: 0 }],
    ['scales the oldest set down first', deployment(4, 2, 0), set('new', 2), [set('a', 2), set('bb', 2)], { a: 0 }],
  ])('%s', (_, of, newest, old, expected) => {
    expect(sizes(scaleDownOld(of, newest, old))).toEqual(expected);
  });
});

describe('scaling', () => {
  it('resizes the only active set', () => {
    expect(sizes(scaleProportionally(deployment(5, 1, 0), set('new', 3), [set('a', 0)]))).toEqual({ new: 5 });
  });

  it('distributes the change during a rollout without rounding losses', () => {
    const notes = { [DESIRED_REPLICAS]: '10', [MAX_REPLICAS]: '13' };
    const scalings = scaleProportionally(deployment(20, 3, 0), set('new', 5, 3, notes), [set('a', 8, 8, notes)]);
    const total = scalings.reduce((sum, { replicas }) => sum + replicas, 0);
    expect(total).toBe(23);
    expect(sizes(scalings)).toEqual({ a: 14, new: 9 });
  });

  it('scales the old sets to zero when the new one has the desired size', () => {
    const done = set('new', 3, 3, { [DESIRED_REPLICAS]: '3' });
    expect(sizes(scaleProportionally(deployment(3, 1, 0), done, [set('a', 2)]))).toEqual({ a: 0 });
  });
});
