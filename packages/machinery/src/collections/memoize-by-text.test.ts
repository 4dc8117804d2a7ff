import { describe, expect, test } from 'vitest';
import { memoizeByText } from './memoize-by-text.ts';

function counted(maxCharacters: number): { made: string[]; recall: (text: string) => string } {
  const made: string[] = [];
  const recall = memoizeByText((text) => {
    made.push(text);
    if (text === 'bad') throw new Error('no');
    return text.toUpperCase();
  }, maxCharacters);
  return { made, recall };
}

describe('memoByText', () => {
  test('computes a value once', () => {
    const { made, recall } = counted(10);
    expect([recall('a'), recall('b'), recall('a')]).toEqual(['A', 'B', 'A']);
    expect(made).toEqual(['a', 'b']);
  });

  test('evicts the least recently used text when the texts exceed the limit', () => {
    const { made, recall } = counted(6);
    for (const text of ['aa', 'bb', 'cc', 'aa', 'dd', 'aa', 'bb']) recall(text);
    expect(made).toEqual(['aa', 'bb', 'cc', 'dd', 'bb']);
  });

  test('evicts nothing for a text that exceeds the limit on its own', () => {
    const { made, recall } = counted(4);
    for (const text of ['aa', 'long text', 'long text', 'aa']) recall(text);
    expect(made).toEqual(['aa', 'long text', 'long text']);
  });

  test('does not cache errors, and caches the value of an empty text', () => {
    const { made, recall } = counted(4);
    expect(() => recall('bad')).toThrow('no');
    expect(() => recall('bad')).toThrow('no');
    expect([recall(''), recall('')]).toEqual(['', '']);
    expect(made).toEqual(['bad', 'bad', '']);
  });
});
