import { describe, expect, it } from 'vitest';
import { type IdentityHistory, nextHistory, readHistory, writeHistory } from './identity-history.ts';

const identity = (trustDomain: string, clusterName: string) => ({ trustDomain, clusterName });
const first: IdentityHistory = { trustDomain: { first: 'a.io', current: 'a.io' }, clusterName: { current: 'one' } };

describe('nextHistory', () => {
  it('starts with the first identity', () => {
    expect(nextHistory(undefined, identity('a.io', 'one'))).toEqual(first);
  });

  it('does not change with the same identity', () => {
    const changed = nextHistory(first, identity('b.io', 'two'));
    expect(nextHistory(changed, identity('b.io', 'two'))).toEqual(changed);
  });

  it('records a change of each part, and of both', () => {
    const otherDomain = { first: 'a.io', current: 'b.io', previous: 'a.io' };
    const otherName = { current: 'two', previous: 'one' };
    expect(nextHistory(first, identity('b.io', 'one'))).toEqual({ ...first, trustDomain: otherDomain });
    expect(nextHistory(first, identity('a.io', 'two'))).toEqual({ ...first, clusterName: otherName });
    expect(nextHistory(first, identity('b.io', 'two'))).toEqual({ trustDomain: otherDomain, clusterName: otherName });
  });

  it('keeps the first trust domain after several changes', () => {
    const third = nextHistory(nextHistory(first, identity('b.io', 'one')), identity('c.io', 'one'));
    expect(third.trustDomain).toEqual({ first: 'a.io', current: 'c.io', previous: 'b.io' });
    const back = nextHistory(third, identity('a.io', 'one'));
    expect(back.trustDomain).toEqual({ first: 'a.io', current: 'a.io', previous: 'c.io' });
  });
});

describe('readHistory', () => {
  it('reads what writeHistory writes', () => {
    const changed = nextHistory(first, identity('b.io', 'two'));
    expect(readHistory(writeHistory(first))).toEqual(first);
    expect(readHistory(writeHistory(changed))).toEqual(changed);
  });

  it.each<[string, string | undefined]>([
    ['absent', undefined],
    ['empty', ''],
    ['not JSON', '{'],
    ['not an object', '1'],
    ['null', 'null'],
    ['a list', '[]'],
    ['without a part', '{"trustDomain":{"first":"a","current":"a"}}'],
    ['without the first trust domain', '{"trustDomain":{"current":"a"},"clusterName":{"current":"a"}}'],
    ['with an empty name', '{"trustDomain":{"first":"a","current":"a"},"clusterName":{"current":""}}'],
    ['with another type', '{"trustDomain":{"first":1,"current":"a"},"clusterName":{"current":"a"}}'],
    ['with null as a part', '{"trustDomain":null,"clusterName":{"current":"a"}}'],
  ])('returns nothing for an annotation that is %s', (_, text) => {
    expect(readHistory(text)).toBeUndefined();
  });

  it('ignores what it does not know', () => {
    const text =
      '{"trustDomain":{"first":"a.io","current":"a.io","previous":1,"x":2},"clusterName":{"current":"one"},"y":3}';
    expect(readHistory(text)).toEqual(first);
  });
});
