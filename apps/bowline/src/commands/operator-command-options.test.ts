import { expect, it } from 'vitest';
import { bowline } from '../testing/test-operators.test-support.ts';

const defaults = { port: 8093, trace: false };

it.each<[readonly string[], Readonly<Record<string, string>>, Readonly<Record<string, unknown>>]>([
  [['--node-name', 'a'], {}, { ...defaults, nodeName: 'a' }],
  [[], { NODE_NAME: 'b', TOOL_PORT: '9' }, { ...defaults, nodeName: 'b', port: 9 }],
  [['--node-name', 'a', '--port', '7'], { NODE_NAME: 'b', TOOL_PORT: '9' }, { ...defaults, nodeName: 'a', port: 7 }],
  [['--node-name', 'a'], { TOOL_PORT: '' }, { ...defaults, nodeName: 'a' }],
  [
    ['--node-name', 'a', '--labels', 'x=1,2', '--labels', 'y'],
    {},
    { ...defaults, nodeName: 'a', labels: ['x=1,2', 'y'] },
  ],
  [['--node-name', 'a', '--trace'], {}, { ...defaults, nodeName: 'a', trace: true }],
])('reads the flags %j and the environment %j', async (flags, env, options) => {
  const { code, out, err } = await bowline(['toolbox', 'place', ...flags], { env });
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual(options);
  expect(code).toBe(0);
});

it.each<[Readonly<Record<string, string>>, string]>([
  [{}, '--node-name: Required value; set the flag or the environment variable NODE_NAME; see --help for usage'],
  [{ NODE_NAME: '' }, '--node-name: Required value'],
  [
    { NODE_NAME: 'a', TOOL_PORT: 'many' },
    'cannot run bowline toolbox place: the environment variable TOOL_PORT for --port is invalid: Must be a number',
  ],
  [{ NODE_NAME: 'a', TOOL_PORT: '0' }, 'the environment variable TOOL_PORT for --port is invalid: '],
])('rejects the environment %j with exit code 2', async (env, message) => {
  const { code, out, err } = await bowline(['toolbox', 'place'], { env });
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
});

it('shows environment variables in the help, and omits hidden flags', async () => {
  const { out } = await bowline(['toolbox', 'place', '--help']);
  expect(out).toMatch(/--node-name <text> +the node \(default: \$NODE_NAME\)/);
  expect(out).toMatch(/--port <number> +\(default: \$TOOL_PORT, else 8093\)/);
  expect(out).toMatch(/--labels <text> +\(can be repeated\)/);
  expect(out).not.toContain('trace');
});

it('runs hidden commands, and omits them and their groups from the help', async () => {
  expect(await bowline(['toolbox', 'internal', 'worker'])).toEqual({ code: 0, out: 'working\n', err: '' });
  const { out } = await bowline(['toolbox', '--help']);
  expect(out).toMatch(/ lock +Commands: open\.\n/);
  expect(out).not.toContain('internal');
  expect((await bowline(['toolbox', 'internal', '--help'])).out).not.toContain('worker');
});
