import type { Condition } from '@bowline/kubernetes/meta-v1';
import { describe, expect, it } from 'vitest';
import { type ConditionUpdate, mergeConditions } from './conditions.ts';
import { at, NOW, stored, THEN, update } from './sample-conditions.test-support.ts';

describe('mergeConditions', () => {
  it('returns the same list when nothing changes', () => {
    const previous = [stored];
    expect(mergeConditions(previous, [update()], at)).toBe(previous);
    expect(mergeConditions(previous, [update({ type: 'Gone', status: undefined })], at)).toBe(previous);
  });

  it.each<[what: string, change: Partial<ConditionUpdate>, time: string]>([
    ['keeps the transition time when only the message changes', { message: 'it still runs' }, THEN],
    ['keeps the transition time when only the reason changes', { reason: 'Ran' }, THEN],
    ['moves the transition time when the status changes', { status: 'Unknown' }, NOW],
    ['accepts a boolean as status', { status: false }, NOW],
  ])('%s', (_, change, time) => {
    const [condition] = mergeConditions([stored], [update(change)], at);
    expect(condition?.lastTransitionTime).toBe(time);
  });

  it('follows the generation without moving the transition time', () => {
    const [condition] = mergeConditions([{ ...stored, observedGeneration: 1 }], [update()], at);
    expect(condition).toEqual(stored);
  });

  it('keeps other conditions in place, appends new ones, and removes some', () => {
    const others: Condition[] = [{ ...stored, type: 'A' }, stored, { ...stored, type: 'B' }];
    const next = mergeConditions(
      others,
      [update({ status: false }), update({ type: 'C' }), update({ type: 'A', status: undefined })],
      at,
    );
    expect(next.map(({ type }) => type)).toEqual(['Available', 'B', 'C']);
    expect(next[1]).toBe(others[2]);
  });

  it('truncates messages to the limit of the API and rejects invalid reasons', () => {
    const [long] = mergeConditions([], [update({ message: 'a'.repeat(40_000) })], at);
    expect(long?.message).toHaveLength(32_768);
    for (const reason of ['', 'two words', 'ends-with-dash-', '1st', 'A'.repeat(1025)]) {
      expect(() => mergeConditions([], [update({ reason })], at)).toThrow(
        expect.objectContaining({ code: 'BOWLINE_CONDITION_INVALID' }) as Error,
      );
    }
  });
});
