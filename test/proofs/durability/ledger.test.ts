import { describe, expect, it } from 'vitest';
import { Ledger } from './ledger.ts';

function ledgerWith(...keys: readonly string[]): Ledger {
  const ledger = new Ledger();
  keys.forEach((key, index) => {
    ledger.sent(key, { content: key });
    ledger.acknowledged(key, index + 2);
  });
  return ledger;
}

const found = (revision: number, ...objects: readonly [string, string, number][]) => ({
  revision,
  objects: new Map(objects.map(([key, content, version]) => [key, { content, version }])),
});

describe('Ledger', () => {
  it('accepts acknowledged writes, and either outcome of unacknowledged ones', () => {
    const ledger = ledgerWith('a', 'b', 'c');
    ledger.sent('a', { content: 'new' });
    ledger.sent('b', { content: undefined });
    ledger.sent('d', { content: 'd' });
    expect(ledger.compare(found(6, ['a', 'new', 5], ['c', 'c', 4], ['d', 'd', 6]))).toEqual([]);
    expect(ledger.unacknowledged).toEqual({ kept: 3, dropped: 0 });
    ledger.sent('a', { content: 'newer' });
    expect(ledger.compare(found(6, ['a', 'new', 5], ['c', 'c', 4], ['d', 'd', 6]))).toEqual([]);
    expect(ledger.unacknowledged).toEqual({ kept: 3, dropped: 1 });
  });

  it.each([
    ['a lost object', found(3, ['b', 'b', 3]), 'a was acknowledged as version 2 with 1 characters, "a" and is absent'],
    ['an older content', found(3, ['a', 'old', 2], ['b', 'b', 3]), 'a was acknowledged'],
    ['another version', found(4, ['a', 'a', 4], ['b', 'b', 3]), 'a was acknowledged'],
    ['an unexpected object', found(4, ['a', 'a', 2], ['b', 'b', 3], ['c', 'c', 4]), 'c was acknowledged as absent'],
    ['a revision counter that went back', found(2, ['a', 'a', 2], ['b', 'b', 3]), 'went back from 3 to 2'],
  ])('finds %s', (_what, state, violation) => {
    expect(ledgerWith('a', 'b').compare(state)).toEqual([expect.stringContaining(violation)]);
  });

  it('detects versions of an object that do not increase', () => {
    const ledger = ledgerWith('a');
    ledger.sent('a', { content: 'new' });
    expect(ledger.acknowledged('a', 2)).toContain('went from version 2 to 2');
  });
});
