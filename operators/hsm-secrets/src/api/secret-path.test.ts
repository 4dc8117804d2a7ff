import { expect, it } from 'vitest';
import { secretPathProblem } from './secret-path.ts';

it.each(['a', 'team/db.password', 'a/b/c-d_e', '0', 'a'.repeat(317)])('accepts the path %s', (path) => {
  expect(secretPathProblem(path)).toBeUndefined();
});

it.each([
  ['', /empty/],
  ['a/../b', /start with a letter or digit/],
  ['a..b', /'\.\.'/],
  ['a//b', /separated/],
  ['/a', /separated/],
  ['a/', /separated/],
  ['a/_metadata', /start with a letter or digit/],
  ['a b', /consist of/],
  ['a\n', /consist of/],
  ['ä', /consist of/],
  ['a'.repeat(318), /at most 317/],
])('refuses the path %j', (path, problem) => {
  expect(secretPathProblem(path)).toMatch(problem);
});
