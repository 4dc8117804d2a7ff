import { applyDefaults, validate } from '@bowline/machinery/schema';
import { BowlineError } from '@bowline/runtime';
import type { Command as OperatorCommand } from '@bowline/runtime/manager';
import { type Command, InvalidArgumentError } from 'commander';
import { type Flag, type FlagValue, givenFlags, readFlag, withFlags } from '../config/flags.ts';
import type { Io } from '../terminal/io.ts';

/** ParsedFlags holds the flags of a command, and where their values come from. */
export interface ParsedFlags {
  readonly declared: OperatorCommand;
  readonly flags: readonly Flag[];
  /** The parsed command line. */
  readonly parsed: Command;
  /** The words before the name of the command: `bowline jasm`. */
  readonly prefix: string;
}

/**
 * readOptions returns the options of a command: from flags, else from their environment variables, else the defaults of
 * the schema. Throws BOWLINE_CONFIG_INVALID.
 */
export function readOptions(given: ParsedFlags, env: Io['env']): unknown {
  const { declared, flags, parsed } = given;
  if (!declared.options) return {};
  const schema = declared.options.json;
  const set = givenFlags(parsed, flags);
  const unset = flags.filter((flag) => !set.some((each) => each.flag === flag));
  const options = applyDefaults(withFlags({}, [...set, ...fromEnvironment(given, unset, env)]), schema);
  const [problem] = validate(options, schema);
  if (!problem) return options;
  const flag = flags.find(({ path }) => path[0] === problem.field.split(/[.[]/)[0]);
  const where = flag ? `--${flag.name}` : problem.field;
  const fix = flag?.env === undefined ? '' : `; set the flag or the environment variable ${flag.env}`;
  throw optionError(given, `${where}: ${problem.message}${fix}`);
}

function fromEnvironment(given: ParsedFlags, flags: readonly Flag[], env: Io['env']): readonly FlagValue[] {
  return flags.flatMap((flag) => {
    const text = flag.env === undefined ? undefined : env[flag.env];
    if (!text) return [];
    try {
      return [{ flag, value: readFlag(text, flag.schema) }];
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      const problem = error.message.replace(/\.$/, '');
      throw optionError(given, `the environment variable ${flag.env} for --${flag.name} is invalid: ${problem}`);
    }
  });
}

function optionError({ prefix, declared }: ParsedFlags, problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `cannot run ${prefix} ${declared.name}: ${problem}; see --help for usage`,
  );
}
