import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operators } from '../operators/operators.ts';
import { bowline, testOperators } from '../testing/test-operators.test-support.ts';
import type { Settings } from './settings.ts';
import { addSettings } from './settings-options.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bowline-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(text: string): Promise<string> {
  const path = join(folder, 'bowline.yaml');
  await writeFile(path, text);
  return path;
}

async function settings(args: readonly string[]): Promise<Settings> {
  const command = new Command().exitOverride();
  const settingsOf = await addSettings(command, { registry: testOperators, args });
  await command.parseAsync(args, { from: 'user' });
  return settingsOf(command);
}

describe('settings', () => {
  it('have defaults', async () => {
    const { manager, operators, sections } = await settings(['--operators', 'badge']);
    expect(operators.map(({ name }) => name)).toEqual(['badge']);
    expect(sections).toEqual({});
    expect(manager).toEqual({
      operators: ['badge'],
      logging: { level: 'info' },
      health: { address: ':8081' },
      metrics: { address: ':8080', secure: false },
      webhook: { address: ':9443', certificates: { kind: 'managed', inject: false } },
      leaderElection: { enabled: true, leaseDuration: '15s', renewDeadline: '10s', retryPeriod: '2s' },
      drainTimeout: '30s',
    });
  });

  it('come from the file, and flags override it field by field', async () => {
    const path = await file(`
operators: [badge, sticker]
namespace: team
logging: { level: warn, format: json }
metrics: { address: ':1' }
badge: { maxThings: 5, deep: { er: y } }
sticker: { glue: strong }
`);
    const flags = [
      '--log-level',
      'debug',
      '--max-things=7',
      '--namespaces',
      'a, b',
      '--metrics-secure',
      '--places',
      'x,y',
    ];
    const { manager, sections, given } = await settings(['--config', path, ...flags, '--leader-elect=false']);
    expect(manager).toMatchObject({
      namespace: 'team',
      namespaces: ['a', 'b'],
      logging: { level: 'debug', format: 'json' },
      metrics: { address: ':1', secure: true },
      leaderElection: { enabled: false, leaseDuration: '15s' },
    });
    expect(sections).toEqual({
      badge: { maxThings: 7, deep: { er: 'y' }, places: ['x', 'y'] },
      sticker: { glue: 'strong' },
    });
    expect(given).not.toHaveProperty('drainTimeout');
  });

  it('are validated together: a flag may add what the file lacks', async () => {
    const path = await file('operators: [badge]\nleaderElection: { leaseDuration: 8s }\n');
    const { manager } = await settings(['--config', path, '--renew-deadline', '5s']);
    expect(manager.leaderElection).toMatchObject({ leaseDuration: '8s', renewDeadline: '5s' });
    await expect(settings(['--config', path])).rejects.toThrow(
      /invalid configuration from .*bowline\.yaml: line 2: .*renewDeadline/,
    );
  });

  it('select operators by flag before the file, which may have sections of others', async () => {
    const path = await file('operators: [badge]\nbadge: { maxThings: 5 }\nsticker: { glue: strong }\n');
    const { operators, sections } = await settings(['--config', path, '--operators', 'sticker']);
    expect(operators.map(({ name }) => name)).toEqual(['sticker']);
    expect(sections).toEqual({ sticker: { glue: 'strong' } });
  });

  it('of the selected operators are shown in the help', async () => {
    const { code, out } = await bowline(['run', '--operators', 'badge', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('Settings of badge:');
    expect(out).toMatch(/--max-things <number> +how many things at once \(default: 3\)/);
    expect(out).toMatch(/--log-level <debug\|info\|warn\|error>/);
    expect(out).toContain('bowline run --operators configmap-sync');
    expect((await bowline(['run', '--help'])).out).not.toContain('--max-things');
  });
});

describe('an error', () => {
  it.each(['run', 'manifests'])('is reported by %s if jasm has no policy', async (command) => {
    const { code, out, err } = await bowline([command, '--operators', 'jasm'], { registry: operators });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/define rules in jasm\.policy, or allow everything with --allow-all-paths/);
    expect(err).toContain('BOWLINE_CONFIG_INVALID');
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      'no operator',
      [],
      /no operators are selected: pass --operators with one or more of badge, sticker, medal, scans, ghost, toolbox, or .*OPERATORS_MISSING/,
    ],
    ['an empty list', ['--operators', ''], /should have at least 1 items/],
    [
      'an unknown operator',
      ['--operators', 'bagde'],
      /unknown operator "bagde" \(did you mean badge\?\).*badge, sticker, medal, scans, ghost.*OPERATOR_UNKNOWN/,
    ],
    [
      'an unknown flag',
      ['--operators', 'badge', '--max-thing', '1'],
      /unknown option '--max-thing'\n\(Did you mean --max-things\?\)/,
    ],
    [
      'a flag of an operator that is not selected',
      ['--operators', 'sticker', '--max-things', '1'],
      /unknown option '--max-things'/,
    ],
    ['an unexpected argument', ['--operators', 'badge', 'now'], /too many arguments/],
    [
      'an unsupported value',
      ['--operators', 'badge', '--log-level', 'loud'],
      /'--log-level <.*>' argument 'loud' is invalid\. Unsupported value: "loud": supported values: "debug"/,
    ],
    [
      'a number out of bounds',
      ['--operators', 'badge', '--max-things', '11'],
      /'--max-things <number>' argument '11' is invalid\. .*less than or equal to 10/,
    ],
    [
      'a value that is not a number',
      ['--operators', 'badge', '--max-things', 'x'],
      /'x' is invalid\. Must be a number/,
    ],
    [
      'a value that is not a boolean',
      ['--operators', 'badge', '--shout=maybe'],
      /'maybe' is invalid\. Must be true or false/,
    ],
    [
      'an invalid duration',
      ['--operators', 'badge', '--lease-duration', '15'],
      /'--lease-duration <duration>' argument '15' is invalid/,
    ],
    [
      'inconsistent durations',
      ['--operators', 'badge', '--lease-duration', '8s'],
      /invalid configuration from the command line: leaderElection\.renewDeadline: .*at least 500ms less than leaseDuration/,
    ],
    [
      'an invalid address',
      ['--operators', 'badge', '--health-address', 'here'],
      /'here' is invalid\. .*must be host:port, :port, or 0 to disable it/,
    ],
    [
      'an invalid namespace',
      ['--operators', 'badge', '--namespaces', 'a,B'],
      /'--namespaces <a,b>' argument 'a,B' is invalid\. \[1\]: /,
    ],
    [
      'a flag of two operators',
      ['--operators', 'badge,sticker', '--shout'],
      /--shout is a setting of several selected operators: set it in bowline\.yaml as badge\.shout or sticker\.shout/,
    ],
    [
      'a missing file',
      ['--operators', 'badge', '--config', '/nowhere/bowline.yaml'],
      /configuration file \/nowhere\/bowline\.yaml: ENOENT; pass a readable file with --config/,
    ],
  ])('on the command line is reported with a hint and exit code 2: %s', async (_, args, message) => {
    const { code, err, out } = await bowline(['run', ...args]);
    expect(err).toMatch(message);
    expect(out).toBe('');
    expect(code).toBe(2);
  });

  it.each<[string, string, RegExp]>([
    ['invalid YAML', 'operators: [badge\nx: 1\n', /line \d: .*; correct the YAML/],
    ['a duplicate key', 'operators: [badge]\noperators: [badge]\n', /line 2: map keys must be unique/],
    ['a list', '- badge\n', /it must be a map of settings/],
    ['two documents', 'operators: [badge]\n---\noperators: [badge]\n', /several YAML documents/],
    [
      'an unknown field',
      'operators: [badge]\nloging: {}\n',
      /line 2: loging: unknown setting \(did you mean logging\?\)/,
    ],
    [
      'an unknown nested field',
      'operators: [badge]\nlogging:\n  leve: info\n',
      /line 3: logging\.leve: unknown setting \(did you mean level\?\)/,
    ],
    ['an unknown operator', 'operators: [bagde]\n', /unknown operator "bagde" \(did you mean badge\?\)/],
    [
      'a wrong type',
      'operators: [badge]\nhealth: { address: 8081 }\n',
      /line 2: health\.address: Invalid value: "integer".*must be of type string/,
    ],
    ['a wrong list', 'operators: badge\n', /line 1: operators: Invalid value: "string".*must be of type array/],
    [
      'an unsupported value',
      'operators: [badge]\nlogging: { level: loud }\n',
      /line 2: logging\.level: Unsupported value: "loud": supported values: "debug", "info", "warn", "error"/,
    ],
    [
      'a missing field that another one requires',
      'operators: [badge]\nwebhook: { certificates: { kind: secret } }\n',
      /webhook\.certificates: .*kind secret requires name, the name of the Secret/,
    ],
    [
      "an operator's setting out of bounds",
      'operators: [badge]\nbadge:\n  shout: true\n  maxThings: 0\n',
      /line 4: badge\.maxThings: Invalid value: 0: .*greater than or equal to 1/,
    ],
    [
      'an unknown setting of an operator',
      'operators: [badge]\nbadge: { maxThing: 1 }\n',
      /line 2: badge\.maxThing: unknown setting \(did you mean maxThings\?\)/,
    ],
    ['a section of the wrong type', 'operators: [badge]\nbadge: [1]\n', /line 2: badge: Invalid value: "array"/],
  ])('in the file is reported with its line and exit code 2: %s', async (_, text, message) => {
    const path = await file(text);
    const { code, err } = await bowline(['run', '--config', path]);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });
});
