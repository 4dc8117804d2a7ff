import { expect, it } from 'vitest';
import { sameOutput, stepsOf, withOutputs } from './console-blocks.ts';

const page =
  '# Page\n\n```console\n$ one\n$ two | three\nfirst\nsecond\n```\n\n```sh\nfour\n```\n\n```console\n$ five\n```\n';

it('finds the commands of console blocks, and what they print', () => {
  expect(stepsOf(page)).toEqual([
    { command: 'one', output: '' },
    { command: 'two | three', output: 'first\nsecond\n' },
    { command: 'five', output: '' },
  ]);
});

it('puts outputs below their commands, and changes nothing else', () => {
  const fresh = withOutputs(page, ['1\n', '2\n', '']);
  expect(fresh).toBe(page.replace('$ one\n', '$ one\n1\n').replace('first\nsecond\n', '2\n'));
});

it.each([
  ['ages and columns', 'NAME   AGE\na   3s\n', 'NAME AGE\na      12s\n', true],
  ['times', 'at 2026-01-01T00:00:00Z', 'at 2026-11-15T22:30:01.112Z', true],
  ['words', 'a created', 'a configured', false],
  ['numbers', '1/1', '0/1', false],
])('compares outputs: %s', (_, a, b, same) => {
  expect(sameOutput(a, b)).toBe(same);
});
