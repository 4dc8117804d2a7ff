import { integerBelow, pick, seededRandom } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { JsonScanError, JsonScanner } from './json-scanner.ts';

function problemOf(document: string, chunkBytes = 7): string | undefined {
  const bytes = Buffer.from(document);
  const scanner = new JsonScanner();
  try {
    for (let start = 0; start < bytes.length; start += chunkBytes)
      scanner.push(bytes.subarray(start, start + chunkBytes));
    scanner.end();
    return undefined;
  } catch (error) {
    return error instanceof JsonScanError ? error.message : String(error);
  }
}

function isJson(document: string): boolean {
  try {
    JSON.parse(document);
    return true;
  } catch {
    return false;
  }
}

describe('the JSON scanner', () => {
  it('accepts and refuses the same documents as JSON.parse, in chunks of any size', () => {
    const random = seededRandom(7);
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u12aF"',
      '"\\x"',
      '1',
      '-0.5e+7',
      '01',
      '-',
      '1.',
      'true',
      'nul',
      ' ',
      '\n',
      '"ü"',
      '"',
    ];
    const mistaken: string[] = [];
    let valid = 0;
    for (let count = 0; count < 4_000; count++) {
      let document = pick(random, ['', '{"a":[1,{"b":null}],"c":', '[true,', '{"x":"y"']);
      for (let length = integerBelow(random, 5); length > 0; length--) document += pick(random, tokens);
      if (isJson(document)) valid++;
      if ((problemOf(document, 1 + integerBelow(random, 9)) === undefined) !== isJson(document))
        mistaken.push(document);
    }
    expect(mistaken).toEqual([]);
    expect(valid).toBeGreaterThan(50);
  });

  it.each([
    ['{\n  "a": 1,\n  "ü": x\n}', 'expected a value at line 3, column 8'],
    ['{"a": 1', 'unexpected end of the document at line 1, column 7'],
    ['', 'unexpected end of the document at line 1, column 0'],
    ['{}\n{}', 'unexpected content after the document at line 2, column 1'],
    ['['.repeat(1_001), 'nesting deeper than 1000 levels at line 1, column 1001'],
  ])('names the line and column of the first problem', (document, problem) => {
    expect(problemOf(document)).toBe(problem);
  });

  it('accepts a byte order mark, and only a complete one at the start', () => {
    expect(problemOf('\ufeff{}')).toBeUndefined();
    expect(problemOf('{}\ufeff')).toBeDefined();
    expect(problemOf('\u00ef{}')).toBeDefined();
  });
});
