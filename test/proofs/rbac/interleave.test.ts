import { expect, it } from 'vitest';
import { interleave } from './interleave.ts';

it('distributes each list evenly, in its order', () => {
  const many = Array.from({ length: 40 }, (_, index) => `many ${index}`);
  const few = Array.from({ length: 10 }, (_, index) => `few ${index}`);
  const all = interleave([many, few, []]);
  expect(all.slice(0, 2)).toEqual(['many 0', 'few 0']);
  expect(all.filter((each) => each.startsWith('many'))).toEqual(many);
  expect(all.filter((each) => each.startsWith('few'))).toEqual(few);
  for (let start = 0; start + 10 <= all.length; start++) {
    expect(all.slice(start, start + 10).filter((each) => each.startsWith('few'))).toHaveLength(2);
  }
});
