import { expect, it } from 'vitest';
import { mock } from './kind.ts';

it('accepts any non-empty text without control characters as a path of the mock', () => {
  expect(mock.names('/any path/ü/../x', undefined)).toEqual(['/any path/ü/../x']);
  for (const path of ['', 'a\nb', '\u0000']) expect(() => mock.names(path, undefined)).toThrow(/a path is any text/);
});
