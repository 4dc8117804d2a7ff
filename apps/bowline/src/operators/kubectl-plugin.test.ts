import { expect, it } from 'vitest';
import { bowline, testOperators } from '../testing/test-operators.test-support.ts';
import { pluginName } from './kubectl-plugin.ts';
import { operators } from './operators.ts';

const invokedBy = '/usr/local/bin/kubectl-tool_box';

it.each([
  ['/usr/local/bin/kubectl-hsm', 'hsm'],
  ['/opt/kubectl-tool_box', 'tool-box'],
  ['C:/plugins/kubectl-hsm.js', 'hsm'],
  ['/usr/local/bin/bowline', undefined],
  ['/usr/local/bin/kubectl-', undefined],
  ['/home/kubectl-hsm/bowline.js', undefined],
  ['', undefined],
])('invoked by %j, the program is the plugin %j', (path, name) => {
  expect(pluginName(path)).toBe(name);
});

it('runs the commands of the operator that declares the plugin, without the name of the operator', async () => {
  expect((await bowline(['show', 'hammer'], { invokedBy })).out).toBe('NAME     WEIGHT\nhammer   3\n');
  const { code, err } = await bowline(['toolbox', 'show', 'hammer'], { invokedBy });
  expect([code, err]).toEqual([2, expect.stringContaining("unknown command 'toolbox'")]);
});

it('names itself as kubectl does in help and errors', async () => {
  const { out } = await bowline(['--help'], { invokedBy });
  expect(out).toContain('Usage: kubectl tool-box [options] [command]');
  expect(out).toContain('-n, --namespace <name>');
  expect(out).toContain('Exit codes: ');
  expect((await bowline(['show', '--help'], { invokedBy })).out).toContain('Example:\n  kubectl tool-box show NAME');
  expect((await bowline(['place'], { invokedBy })).err).toContain('cannot run kubectl tool-box place: --node-name');
});

it('rejects a plugin that no operator declares with exit code 2', async () => {
  const { code, err } = await bowline(['list'], { invokedBy: '/bin/kubectl-nothing' });
  expect(err).toMatch(/no operator declares the kubectl plugin "nothing"; .*COMMAND_UNKNOWN/);
  expect(code).toBe(2);
});

it('lists each operator with the name and the kubectl plugin that it declares', async () => {
  for (const [name, { kubectlPlugin, load }] of Object.entries({ ...operators, ...testOperators })) {
    expect(await load()).toMatchObject({ name, kubectlPlugin });
  }
});
