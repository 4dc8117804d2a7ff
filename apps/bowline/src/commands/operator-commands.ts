import { BowlineError } from '@bowline/runtime';
import { inputFlagName, LOG_LEVELS, type Command as OperatorCommand } from '@bowline/runtime/manager';
import { Argument, Command, Option } from 'commander';
import { addClusterOptions } from '../cluster/connect-cluster.ts';
import { type Flag, flagsOf, optionOf } from '../config/flags.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import type { CommandsOf } from '../operators/registry.ts';
import type { Io } from '../terminal/io.ts';
import { outputOption } from '../terminal/output-format.ts';
import { inputOptions } from './operator-command-inputs.ts';
import { runOperatorCommand } from './run-operator-command.ts';

/** OperatorProgram is what the commands of an operator belong to: `bowline <operator>`, or a kubectl plugin. */
export interface OperatorProgram {
  readonly operator: CommandsOf;
  /** One line for the help. */
  readonly summary: string;
  /** The words before the name of a command: `bowline jasm`, `kubectl hsm`. */
  readonly prefix: string;
}

/**
 * operatorCommands returns the command `bowline <operator>`, or that of a kubectl plugin, with the commands that an
 * operator defines, agents included.
 */
export function operatorCommands(program: OperatorProgram, command: Command, io: Io): Command {
  const { operator, summary, prefix } = program;
  const { name, commands } = operator;
  command.description(summary);
  for (const each of commands) {
    groupOf(command, each.name, commands).addCommand(commandOf(program, each, io), { hidden: each.hidden });
  }
  if (commands.length > 0) {
    const shown = commands.find(({ hidden }) => !hidden) ?? commands[0];
    return command.addHelpText('after', `\nExample:\n  ${prefix} ${shown?.name} --help`);
  }
  return command.action(() => {
    throw new BowlineError(
      'BOWLINE_COMMAND_UNKNOWN',
      `the operator ${name} has no commands; \`bowline run --operators ${name}\` runs it`,
    );
  });
}

/** addPluginOptions adds the flags that every kubectl command accepts, also before the name of a command. */
export function addPluginOptions(command: Command): Command {
  return addClusterOptions(command).option('-n, --namespace <name>', 'namespace that the command works in');
}

/**
 * groupOf returns the command for all words of a name but the last, and creates it if it is missing. The help omits a
 * group of hidden commands.
 */
function groupOf(command: Command, name: string, commands: readonly OperatorCommand[]): Command {
  const words = name.split(' ').slice(0, -1);
  return words.reduce((group, word, at) => {
    const known = group.commands.find((each) => each.name() === word);
    if (known) return known;
    const prefix = `${words.slice(0, at + 1).join(' ')} `;
    const inside = commands.filter((each) => each.name.startsWith(prefix) && !each.hidden);
    const names = new Set(inside.map((each) => each.name.slice(prefix.length).split(' ')[0]));
    const created = new Command(word).description(`Commands: ${[...names].join(', ')}.`);
    group.addCommand(created, { hidden: inside.length === 0 });
    return created;
  }, command);
}

function commandOf(program: OperatorProgram, declared: OperatorCommand, io: Io): Command {
  const { name, summary, args, options: schema, flags: settings, output, cluster } = declared;
  const flags = flagsOf(schema?.json ?? {}, [], settings);
  const command = new Command(name.split(' ').at(-1))
    .description(summary)
    .addOption(new Option('--log-level <level>', 'lowest level that is logged').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'format of the log').choices(['json', 'text']).default('json'));
  for (const argument of argumentsOf(declared)) command.addArgument(argument);
  for (const flag of flags) command.addOption(optionOf(flag));
  for (const option of inputOptions(declared)) command.addOption(option);
  if (output) command.addOption(outputOption(output.manifests ? 'yaml' : 'table'));
  if (cluster) addPlaceOptions(command, declared);
  return command
    .addHelpText('after', `\nExample:\n  ${program.prefix} ${name}${exampleOf(declared, flags)}`)
    .action(async (...given: readonly unknown[]) => {
      const values = Object.fromEntries(Object.keys(args).map((argument, at) => [argument, given[at]]));
      const parsed = given.at(-1) as Command;
      await runOperatorCommand({ ...program, declared, flags, parsed, args: values }, io);
    });
}

function argumentsOf({ args }: OperatorCommand): readonly Argument[] {
  return Object.entries(args).map(([name, { summary, optional, variadic }]) => {
    const shown = `${name}${variadic ? '...' : ''}`;
    return new Argument(optional ? `[${shown}]` : `<${shown}>`, summary);
  });
}

function addPlaceOptions(command: Command, { namespace }: OperatorCommand): void {
  const managers = `(default: the pod's own, else ${DEFAULT_NAMESPACE})`;
  addClusterOptions(command);
  if (namespace === 'manager') {
    command.option('-n, --namespace <name>', `the manager's namespace ${managers}`);
  } else {
    command
      .option('-n, --namespace <name>', "namespace of the objects (default: the context's, else default)")
      .option('--manager-namespace <name>', `the manager's namespace ${managers}`);
  }
}

function exampleOf({ args, inputs }: OperatorCommand, flags: readonly Flag[]): string {
  const words = Object.entries(args).map(([argument, { example, variadic }]) => {
    return ` ${example ?? `${argument.toUpperCase()}${variadic ? '…' : ''}`}`;
  });
  const files = Object.entries(inputs).filter(([, { hidden }]) => !hidden);
  return [
    ...words,
    ...flags.filter(({ hidden }) => !hidden).map((flag) => ` --${flag.name} …`),
    ...files.map(([input, form]) => (form.manifests ? ' -f FILE' : ` --${inputFlagName(input)} FILE`)),
  ].join('');
}
