import { applyDefaults, validate } from '@bowline/machinery/schema';
import {
  BowlineError,
  type CommandContext,
  createLog,
  LOG_LEVELS,
  type LogLevel,
  type Operator,
  type Command as OperatorCommand,
  runUntilSignal,
} from '@bowline/runtime';
import { Command, Option } from 'commander';
import { flagsOf, givenFlags, optionOf, withFlags } from '../config/flags.ts';

interface LogOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
}

/** operatorCommands is `bowline <operator>`: the commands that an operator brings, agents included. */
export function operatorCommands(operator: Operator, summary: string): Command {
  const { name, commands } = operator;
  const command = new Command(name).description(summary);
  for (const each of commands) command.addCommand(commandOf(operator, each));
  if (commands.length > 0) {
    return command.addHelpText('after', `\nExample:\n  bowline ${name} ${commands[0]?.name} --help`);
  }
  return command.action(() => {
    throw new BowlineError(
      'BOWLINE_COMMAND_UNKNOWN',
      `the operator ${name} has no commands of its own; \`bowline run --operators ${name}\` runs it`,
    );
  });
}

function commandOf(operator: Operator, { name, summary, options: schema, run }: OperatorCommand): Command {
  const flags = flagsOf(schema?.json ?? {});
  const command = new Command(name)
    .description(summary)
    .addOption(new Option('--log-level <level>', 'the least important lines').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'how lines are written').choices(['json', 'text']).default('json'));
  for (const flag of flags) command.addOption(optionOf(flag));
  const example = flags.map((flag) => ` --${flag.name} …`).join('');
  return command
    .addHelpText('after', `\nExample:\n  bowline ${operator.name} ${name}${example}`)
    .action(async ({ logLevel, logFormat }: LogOptions, parsed: Command) => {
      const given = withFlags({}, givenFlags(parsed, flags));
      const options = schema ? applyDefaults(given, schema.json) : {};
      const [problem] = schema ? validate(options, schema.json) : [];
      if (problem) {
        const flag = flags.find(({ path }) => path[0] === problem.field.split(/[.[]/)[0]);
        const where = flag ? `--${flag.name}` : problem.field;
        throw new BowlineError(
          'BOWLINE_CONFIG_INVALID',
          `cannot run bowline ${operator.name} ${name}: ${where}: ${problem.message}; --help shows what is possible`,
        );
      }
      const log = createLog({ level: logLevel, format: logFormat }).with({ operator: operator.name, command: name });
      await runUntilSignal(async (signal) => {
        // What the schema read is what `command` checked the function against; the types were erased there.
        const context = { options, log, signal } as CommandContext<unknown> as CommandContext<never>;
        try {
          await run(context);
        } catch (error) {
          // Told to stop, it stopped.
          if (error !== signal.reason || !signal.aborted) throw error;
        }
      });
    });
}
