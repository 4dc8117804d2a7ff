import { applyDefaults, validate } from '@bowline/machinery/schema';
import { BowlineError, type Log, type Operator, runUntilSignal } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import {
  type CommandCluster,
  type CommandContext,
  createLog,
  LOG_LEVELS,
  type LogLevel,
  type Command as OperatorCommand,
} from '@bowline/runtime/manager';
import { Argument, Command, Option } from 'commander';
import { addClusterOptions, type ClusterOptions, findCluster } from '../cluster/connect-cluster.ts';
import { type Flag, flagsOf, givenFlags, optionOf, withFlags } from '../config/flags.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import type { Io } from '../terminal/io.ts';

interface LogOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
}

interface PlaceOptions extends ClusterOptions {
  readonly namespace?: string | undefined;
}

/**
 * operatorCommands returns the command `bowline <operator>` with the commands that an operator defines, agents
 * included.
 */
export function operatorCommands(operator: Operator, summary: string, io: Io): Command {
  const { name, commands } = operator;
  const command = new Command(name).description(summary);
  for (const each of commands) groupOf(command, each.name).addCommand(commandOf(operator, each, io));
  for (const group of command.commands.filter((each) => each.commands.length > 0)) {
    group.description(`Commands: ${group.commands.map((each) => each.name()).join(', ')}.`);
  }
  if (commands.length > 0) {
    return command.addHelpText('after', `\nExample:\n  bowline ${name} ${commands[0]?.name} --help`);
  }
  return command.action(() => {
    throw new BowlineError(
      'BOWLINE_COMMAND_UNKNOWN',
      `the operator ${name} has no commands; \`bowline run --operators ${name}\` runs it`,
    );
  });
}

/** groupOf returns the command for all words of a name but the last, and creates it if it is missing. */
function groupOf(command: Command, name: string): Command {
  let group = command;
  for (const word of name.split(' ').slice(0, -1)) {
    let next = group.commands.find((each) => each.name() === word);
    if (!next) {
      next = new Command(word);
      group.addCommand(next);
    }
    group = next;
  }
  return group;
}

function commandOf(operator: Operator, declared: OperatorCommand, io: Io): Command {
  const { name, summary, args, options: schema, cluster } = declared;
  const flags = flagsOf(schema?.json ?? {});
  const command = new Command(name.split(' ').at(-1))
    .description(summary)
    .addOption(new Option('--log-level <level>', 'lowest level that is logged').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'format of the log').choices(['json', 'text']).default('json'));
  for (const argument of argumentsOf(declared)) command.addArgument(argument);
  for (const flag of flags) command.addOption(optionOf(flag));
  if (cluster) {
    addClusterOptions(command).option(
      '--namespace <name>',
      `the manager's namespace (default: the pod's own, else ${DEFAULT_NAMESPACE})`,
    );
  }
  const words = Object.entries(args).map(([argument, { example, variadic }]) => {
    return ` ${example ?? `${argument.toUpperCase()}${variadic ? '…' : ''}`}`;
  });
  const example = [...words, ...flags.map((flag) => ` --${flag.name} …`)].join('');
  return command
    .addHelpText('after', `\nExample:\n  bowline ${operator.name} ${name}${example}`)
    .action(async (...given: readonly unknown[]) => {
      const values = Object.fromEntries(Object.keys(args).map((argument, at) => [argument, given[at]]));
      const parsed = given.at(-1) as Command;
      const { logLevel, logFormat, ...place } = parsed.opts<LogOptions & PlaceOptions>();
      const options = optionsOf(operator, declared, parsed, flags);
      const log = createLog({ level: logLevel, format: logFormat }).with({ operator: operator.name, command: name });
      const context = { options, args: values, log, print: (line: string) => io.out(`${line}\n`) };
      if (!cluster) return await run(declared, { ...context, cluster: undefined });
      await using connected = await connectCluster(place, io, log);
      await run(declared, { ...context, cluster: connected });
    });
}

function argumentsOf({ args }: OperatorCommand): readonly Argument[] {
  return Object.entries(args).map(([name, { summary, optional, variadic }]) => {
    const shown = `${name}${variadic ? '...' : ''}`;
    return new Argument(optional ? `[${shown}]` : `<${shown}>`, summary);
  });
}

function optionsOf(
  operator: Operator,
  { name, options: schema }: OperatorCommand,
  parsed: Command,
  flags: readonly Flag[],
): unknown {
  if (!schema) return {};
  const options = applyDefaults(withFlags({}, givenFlags(parsed, flags)), schema.json);
  const [problem] = validate(options, schema.json);
  if (!problem) return options;
  const flag = flags.find(({ path }) => path[0] === problem.field.split(/[.[]/)[0]);
  const where = flag ? `--${flag.name}` : problem.field;
  throw new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `cannot run bowline ${operator.name} ${name}: ${where}: ${problem.message}; see --help for usage`,
  );
}

async function connectCluster(place: PlaceOptions, { env }: Io, log: Log): Promise<CommandCluster & AsyncDisposable> {
  const { config, isPod } = await findCluster(place, env, log);
  const client = createClient({ transport: connect(config, { log }), log });
  return {
    client,
    namespace: place.namespace ?? (isPod ? config.namespace : undefined) ?? DEFAULT_NAMESPACE,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

type Given = Omit<CommandContext<unknown, unknown, CommandCluster | undefined>, 'signal'>;

async function run({ run: start }: OperatorCommand, given: Given): Promise<void> {
  await runUntilSignal(async (signal) => {
    try {
      // The values that were read match the types that `command` checked the function against; the types were erased
      // there.
      await start({ ...given, signal } as CommandContext<unknown, unknown, unknown> as CommandContext<
        never,
        never,
        never
      >);
    } catch (error) {
      // The command stopped because of the signal.
      if (error !== signal.reason || !signal.aborted) throw error;
    }
  });
}
