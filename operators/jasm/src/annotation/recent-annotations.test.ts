import { expect, test } from 'vitest';
import { recentAnnotation } from './recent-annotations.ts';

test('pods with the same annotation share the parsed result', () => {
  const text = 'provider: whatever\npath: a\nsecretName: b';
  expect(recentAnnotation(text)).toMatchObject({ requests: [{ provider: 'whatever' }], problems: [] });
  expect(recentAnnotation(text)).toBe(recentAnnotation(`${text}`));
  expect(recentAnnotation(`${text} `)).not.toBe(recentAnnotation(text));
});
