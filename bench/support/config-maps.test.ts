import { expect, test } from 'vitest';
import { sampleConfigMap } from './config-maps.ts';

test('returns the same object for the same index', () => {
  expect(sampleConfigMap(7, 'a')).toEqual(sampleConfigMap(7, 'a'));
});

test('returns objects that share no content', () => {
  const contents = Array.from({ length: 500 }, (_, index) => sampleConfigMap(index, 'a').data['application.yaml']);
  expect(new Set(contents).size).toBe(500);
});

test('returns objects of the stated size: 1.3 kB with what the server adds', () => {
  const added = JSON.stringify({ uid: 'x'.repeat(36), resourceVersion: '12345', creationTimestamp: 'x'.repeat(20) });
  const sizes = Array.from(
    { length: 100 },
    (_, i) => JSON.stringify(sampleConfigMap(i, 'bench-1')).length + added.length,
  );
  for (const size of sizes) {
    expect(size).toBeGreaterThan(1_200);
    expect(size).toBeLessThan(1_400);
  }
});
