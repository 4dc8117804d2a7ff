import type { StructuralSchema } from '@bowline/machinery/schema';
import { BowlineError } from '../errors/bowline-error.ts';

/**
 * ConfigParser converts an operator's section of the configuration to its type, or throws an error that describes what
 * is wrong.
 */
export interface ConfigParser<Config> {
  parse(section: unknown): Config;
}

/** ConfigSchema is a schema of the section, built with `s`. */
export interface ConfigSchema<Config> {
  readonly '~read': Config;
  readonly json: StructuralSchema;
}

/** OperatorConfig configures how an operator's section of the configuration is read. */
export type OperatorConfig<Config> = ConfigParser<Config> | ConfigSchema<Config>;

/** readConfig returns an operator's configuration, validated, with defaults applied. Throws BOWLINE_CONFIG_INVALID. */
export async function readConfig(
  operator: string,
  config: OperatorConfig<unknown> | undefined,
  section: unknown,
): Promise<unknown> {
  if (config === undefined) return undefined;
  if ('parse' in config) return config.parse(section);
  // Loaded here, because it loads the CEL and RE2 engines, which not every operator needs.
  const { applyDefaults, describeProblems, unknownFields, validate } = await import('@bowline/machinery/schema');
  const value = applyDefaults(section ?? {}, config.json);
  const problems = validate(value, config.json);
  const unknown = unknownFields(value, config.json);
  if (problems.length === 0 && unknown.length === 0) return value;
  const messages = [
    ...(problems.length === 0 ? [] : [describeProblems(problems)]),
    ...unknown.map((path) => `${path}: unknown setting`),
  ];
  throw new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `the configuration of the operator ${operator} is not valid: ${messages.join('; ')}`,
  );
}
