import { expect, test } from 'vitest';
import { recentAnnotations } from './recent-annotations.ts';

test('pods with the same annotation share what was read of it', () => {
  const recent = recentAnnotations(['mock']);
  const text = 'provider: mock\npath: a\nsecretName: b';
  expect(recent(text)).toBe(recent(`${text}`));
  expect(recent(`${text} `)).not.toBe(recent(text));
  expect(recentAnnotations(undefined)(text)).toEqual(recent(text));
  expect(recentAnnotations(['vault'])(text).problems).toEqual([
    expect.objectContaining({ reason: 'ProviderUnsupported' }),
  ]);
  expect(recentAnnotations(undefined)(text).problems).toEqual([]);
});
