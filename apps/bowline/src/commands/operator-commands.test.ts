import { expect, it } from 'vitest';
import { startBowline } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

it('runs the commands of an operator, with flags from their schemas', { timeout: 30_000 }, async () => {
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

it('supports command groups and positional arguments', async () => {
  expect(await bowline(['badge', 'text', 'show', 'a'])).toEqual({ code: 0, out: '{"word":"a"}\n', err: '' });
  expect((await bowline(['badge', 'text', 'show', 'a', 'b c'])).out).toBe('{"word":"a","other":"b c"}\n');
  expect((await bowline(['badge', '--help'])).out).toMatch(/ text +Commands: set, show\.\n/);
  expect((await bowline(['badge', 'text', '--help'])).out).toMatch(/set \[options\] <name> <words\.\.\.> +Puts words/);
  const { out } = await bowline(['badge', 'text', 'set', '--help']);
  expect(out).toMatch(/Arguments:\n {2}name +the ConfigMap\n/);
  for (const flag of ['--kubeconfig <file>', '--context <name>', '--namespace <name>', '--loud']) {
    expect(out).toContain(flag);
  }
  expect(out).toContain('Example:\n  bowline badge text set NAME WORDS… --loud …');
});

it.each<[readonly string[], RegExp]>([
  [['badge', 'text'], /Usage: bowline badge text/],
  [['badge', 'text', 'show'], /missing required argument 'word'/],
  [['badge', 'text', 'show', 'a', 'b', 'c'], /too many arguments/],
  [['badge', 'print'], /cannot run bowline badge print: --text: Required value; see --help for usage/],
  [['badge', 'print', '--text', 'x', '--times', '9'], /'--times <number>' argument '9' is invalid/],
  [['badge', 'sing'], /unknown command 'sing'/],
  [['sticker'], /the operator sticker has no commands; `bowline run --operators sticker` runs it/],
  [['stikcer'], /unknown command 'stikcer'/],
])('rejects %j with exit code 2 and a hint', async (args, message) => {
  const { code, err } = await bowline(args);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});

it('reports the kubeconfig that it cannot use', async () => {
  const { code, err } = await bowline(['badge', 'text', 'set', 'a', 'b', '--kubeconfig', '/nowhere/kubeconfig']);
  expect(err).toContain('/nowhere/kubeconfig');
  expect(code).toBe(1);
});
