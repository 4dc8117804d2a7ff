import { expect, it } from 'vitest';
import { formatTable } from './table.ts';

it('aligns columns, and pads neither headings nor cells of the last one', () => {
  const rows = [
    ['a', 'first'],
    ['longer', ''],
  ];
  expect(formatTable(['Name', 'Text'], rows)).toBe('NAME     TEXT\na        first\nlonger   \n');
});

it('prints each row on one line, without control characters of the terminal', () => {
  expect(formatTable(['Text'], [['one\n two\u001B[2J']])).toBe('TEXT\none two [2J\n');
});
