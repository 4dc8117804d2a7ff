import { BowlineError, type Operator } from '@bowline/runtime';
import { type Command, Option } from 'commander';
import { loadOperators, type Registry } from '../operators/registry.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { type Flag, flagAt, flagsOf, givenFlags, optionOf } from './flags.ts';
import { managerConfig, settingFlags } from './manager-config.ts';
import { checkFile, resolveSettings, type Settings } from './settings.ts';

/** SettingsSource holds what a command needs to find out which settings it accepts. */
export interface SettingsSource {
  readonly registry: Registry;
  /** The command line after the command's name. */
  readonly args: readonly string[];
}

/**
 * addSettings adds an option to a command for every setting: the manager's own, and those of the operators that the
 * command line or its file selects. They are looked up before the command line is parsed, because they decide which
 * options it may contain. It returns a function that returns the settings once the command line is parsed.
 */
export async function addSettings(
  command: Command,
  { registry, args }: SettingsSource,
): Promise<(command: Command) => Settings> {
  const path = lastValue(args, '--config');
  const file = path === undefined ? undefined : await readConfigFile(path);
  const operators = await loadOperators(registry, selectedNames(args, file));
  const known = Object.keys(registry);
  const own = Object.entries(settingFlags).map(([name, at]) => flagAt(name, managerConfig.json, at.split('.')));
  const taken = new Set([...own.map(({ name }) => name), 'config', 'help', ...command.options.map(longName)]);
  const theirs = operators.flatMap((operator) => operatorFlags(operator).filter(({ name }) => !taken.has(name)));
  const shared = theirs.filter(({ name }) => theirs.filter((flag) => flag.name === name).length > 1);
  const usable = theirs.filter((flag) => !shared.includes(flag));

  command.option('--config <file>', 'path to bowline.yaml; flags override its settings');
  for (const flag of own) command.addOption(named(flag, flag.name === 'operators' ? known : undefined));
  for (const flag of usable) command.addOption(optionOf(flag).helpGroup(`Settings of ${flag.path[0]}:`));
  for (const name of new Set(shared.map((flag) => flag.name))) command.addOption(ambiguous(name, shared));

  return (parsed) => {
    if (operators.length === 0) {
      if (file) checkFile(file, [], known);
      throw noOperators(known);
    }
    return resolveSettings({ file, flags: givenFlags(parsed, [...own, ...usable]), operators, known });
  };
}

function operatorFlags({ name, config }: Operator): readonly Flag[] {
  return config && 'json' in config ? flagsOf(config.json, [name]) : [];
}

function named(flag: Flag, choices: readonly string[] | undefined): Option {
  const option = optionOf(flag);
  if (choices) option.description += `: ${choices.join(', ')}`;
  return option;
}

/** ambiguous returns a flag that several operators have: its error names the settings to use instead. */
function ambiguous(name: string, flags: readonly Flag[]): Option {
  const places = flags.filter((flag) => flag.name === name).map(({ path }) => path.join('.'));
  return new Option(`--${name} [value]`)
    .hideHelp()
    .preset('')
    .argParser(() => {
      throw new BowlineError(
        'BOWLINE_CONFIG_INVALID',
        `--${name} is a setting of several selected operators: set it in bowline.yaml as ${places.join(' or ')}`,
      );
    });
}

function longName(option: Option): string {
  return option.long?.replace(/^--/, '') ?? '';
}

function selectedNames(args: readonly string[], file: ConfigFile | undefined): readonly string[] {
  const text = lastValue(args, '--operators');
  if (text !== undefined) {
    return text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  }
  const listed: unknown = file?.value.operators;
  // An invalid value is reported when the whole file is checked.
  return Array.isArray(listed) ? listed.filter((name): name is string => typeof name === 'string') : [];
}

/** lastValue returns the value of an option on a command line that is not parsed yet: `--x value` or `--x=value`. */
function lastValue(args: readonly string[], option: string): string | undefined {
  let value: string | undefined;
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break;
    if (arg === option) value = args[index + 1];
    else if (arg.startsWith(`${option}=`)) value = arg.slice(option.length + 1);
  }
  return value;
}

function noOperators(known: readonly string[]): BowlineError {
  return new BowlineError(
    'BOWLINE_OPERATORS_MISSING',
    `no operators are selected: pass --operators with one or more of ${known.join(', ')}, or set \`operators\` in the file passed with --config`,
  );
}
