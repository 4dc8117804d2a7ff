import { describe, expect, test } from 'vitest';
import { contentKeyProblem } from './content.ts';

describe('contentKeyProblem', () => {
  test.each(['a', 'app.yaml', '.dot', 'a..b', '-', '_', 'A-1_b.c', 'a'.repeat(253), '__proto__'])(
    'accepts %j',
    (key) => {
      expect(contentKeyProblem(key)).toBeUndefined();
    },
  );

  test.each(['', '.', '..', '..a', 'a/b', 'a b', 'ä', 'a\n', 'a'.repeat(254)])('rejects %j', (key) => {
    expect(contentKeyProblem(key)).toEqual(expect.any(String));
  });
});
