import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

function lines(splitter: LineSplitter, ...chunks: (string | Uint8Array)[]): string[] {
  const found: string[] = [];
  for (const chunk of chunks) splitter.push(Buffer.from(chunk), (line) => found.push(line));
  return found;
}

test('returns the same lines wherever the chunks are split', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\n', ' ')),
        { maxLength: 8 },
      ),
      fc.array(fc.nat(40)),
      (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const splitter = new LineSplitter();
        const found: string[] = [];
        let start = 0;
        for (const cut of [...cuts, bytes.length]) {
          splitter.push(bytes.subarray(start, start + cut), (line) => found.push(line));
          start += cut;
        }
        expect(found).toEqual(texts);
        expect(splitter.pendingBytes).toBe(0);
      },
    ),
  );
});

test('decodes a character whose bytes arrive in two chunks', () => {
  const bytes = Buffer.from('{"a":"\u{1F680}ü"}\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(lines(new LineSplitter(), bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['{"a":"\u{1F680}ü"}']);
  }
});

test('returns the bytes after the last newline as the rest', () => {
  const splitter = new LineSplitter();
  expect(lines(splitter, 'one\n\ntw', 'o\nthr')).toEqual(['one', 'two']);
  expect(splitter.pendingBytes).toBe(3);
  expect(splitter.rest()).toBe('thr');
  expect(splitter.rest()).toBe('');
});

test('rejects a line longer than the limit before buffering all of it', () => {
  const splitter = new LineSplitter(10);
  expect(lines(splitter, '12345', '67890')).toEqual([]);
  expect(() => lines(splitter, '1')).toThrow(RangeError);
});
