import { describe, expect, it } from 'vitest';
import { contentOf } from '../content/content.ts';
import { losesSomething, mergeContent } from './merge-content.ts';

const data = (values: Record<string, string>) => contentOf({ data: values });

describe('mergeContent', () => {
  it.each([
    ['adds keys beside those of others', { theirs: '1' }, { a: '1' }, [], { theirs: '1', a: '1' }, []],
    ['repairs our keys', { a: 'x' }, { a: '1' }, ['a'], { a: '1' }, []],
    [
      'removes our keys that the source lost',
      { a: '1', b: '1', theirs: '1' },
      { a: '1' },
      ['a', 'b'],
      { a: '1', theirs: '1' },
      [],
    ],
    ['leaves a key alone that somebody else has', { a: 'x' }, { a: '1', b: '1' }, [], { a: 'x', b: '1' }, ['a']],
    ['takes a key that is the same already', { a: '1' }, { a: '1' }, [], { a: '1' }, []],
  ])('%s', (_, there, desired, ours, content, conflicts) => {
    const merged = mergeContent(data(there), data(desired), { ours: new Set(ours), wins: false });
    expect(merged.content).toEqual(data(content));
    expect(merged.conflicts).toEqual(conflicts);
    const ourKeys = Object.keys(desired).filter((key) => !(conflicts as string[]).includes(key));
    expect(merged.managedKeys).toBe(ourKeys.join(','));
  });

  it('takes what somebody else has when told to', () => {
    const merged = mergeContent(data({ a: 'x' }), data({ a: '1' }), { ours: new Set(), wins: true });
    expect(merged).toMatchObject({ content: data({ a: '1' }), conflicts: [], managedKeys: 'a' });
  });

  it('moves a key of ours from text to binary', () => {
    const desired = contentOf({ binaryData: { a: 'AA==' } });
    expect(mergeContent(data({ a: '1' }), desired, { ours: new Set(['a']), wins: false }).content).toEqual(desired);
  });
});

describe('losesSomething', () => {
  it.each([
    ['nothing changed', { a: '1' }, { a: '1' }, false],
    ['keys were added', { a: '1' }, { a: '1', b: '2' }, false],
    ['a value changed', { a: '1' }, { a: '2' }, true],
    ['a key went', { a: '1' }, {}, true],
  ])('says so when %s', (_, before, after, loses) => {
    expect(losesSomething(data(before), data(after as Record<string, string>))).toBe(loses);
  });
});
