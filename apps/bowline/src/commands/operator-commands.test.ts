import { expect, it } from 'vitest';
import { startBowline } from '../child-process.test-support.ts';
import { bowline } from '../test-operators.test-support.ts';

it('runs the commands that an operator brings, with flags from their schema', { timeout: 30_000 }, async () => {
  const { code, output } = await (await startBowline(['badge', 'print', '--text', 'hello', '--times=2'])).ended;
  const lines = output.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ operator: 'badge', command: 'print', msg: 'badge', text: 'hello' });
  expect(code).toBe(0);
});

it('shows operators and the flags of their commands in the help', async () => {
  expect((await bowline(['--help'])).out).toMatch(/Operators .*\n {2}badge +Badge: keeps texts in ConfigMaps\n/);
  expect((await bowline(['badge', '--help'])).out).toMatch(/print \[options\] +Prints a badge/);
  expect((await bowline(['badge', 'print', '--help'])).out).toMatch(/--times <number> +\(default: 1\)/);
});

it.each<[readonly string[], RegExp]>([
  [['badge', 'print'], /cannot run bowline badge print: --text: Required value; --help shows what is possible/],
  [['badge', 'print', '--text', 'x', '--times', '9'], /'--times <number>' argument '9' is invalid/],
  [['badge', 'sing'], /unknown command 'sing'/],
  [['sticker'], /the operator sticker has no commands of its own; `bowline run --operators sticker` runs it/],
  [['stikcer'], /unknown command 'stikcer'/],
])('answers %j with exit code 2 and a way out', async (args, message) => {
  const { code, err } = await bowline(args);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});
