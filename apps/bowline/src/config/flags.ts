import { type StructuralSchema, validate } from '@bowline/machinery/schema';
import { type CommandFlag, type CommandFlags, flagName } from '@bowline/runtime/manager';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Flag is a setting that can be set on the command line. */
export interface Flag extends CommandFlag {
  /** Without the dashes: `trust-all-authors`. */
  readonly name: string;
  /** The path of the setting in the configuration: `['logging', 'level']`. */
  readonly path: readonly string[];
  readonly schema: StructuralSchema;
}

/** FlagValue is a flag that was set, with its value. */
export interface FlagValue {
  readonly flag: Flag;
  readonly value: unknown;
}

/** flagAt returns the flag of the setting at a path of a schema. */
export function flagAt(name: string, schema: StructuralSchema, path: readonly string[]): Flag {
  let found: StructuralSchema | undefined = schema;
  for (const field of path) found = found?.properties?.[field];
  if (!found) throw new TypeError(`there is no setting ${path.join('.')} for the flag --${name}`);
  return { name, path, schema: found };
}

/**
 * flagsOf returns the flags of an object's fields, below `prefix`. Fields that a flag cannot express (objects, lists of
 * objects) have none.
 */
export function flagsOf(
  schema: StructuralSchema,
  prefix: readonly string[] = [],
  settings: CommandFlags = {},
): readonly Flag[] {
  return Object.entries(schema.properties ?? {}).flatMap(([field, each]) => {
    const name = flagName(field);
    // On a command line `--no-x` negates `--x`.
    const isExpressible = isScalar(each) || (each.items !== undefined && isScalar(each.items));
    if (!isExpressible || name.startsWith('no-')) return [];
    return [{ ...settings[field], name, path: [...prefix, field], schema: each }];
  });
}

function isScalar({ type }: StructuralSchema): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

/** optionOf returns the command-line option of a flag; its value is validated as soon as it is read. */
export function optionOf(flag: Flag): Option {
  const { name, schema, hidden = false, repeatable = false } = flag;
  if (!repeatable) {
    const option = new Option(`--${name} ${placeholder(schema)}`, helpOf(flag)).hideHelp(hidden);
    return option.argParser((text: string) => readFlag(text, schema));
  }
  const items = schema.items ?? {};
  const option = new Option(`--${name} ${placeholder(items)}`, helpOf(flag)).hideHelp(hidden);
  return option.argParser((text: string, before: readonly unknown[] = []) => [...before, readFlag(text, items)]);
}

/** givenFlags returns the flags that are set on the command line, with their values. */
export function givenFlags(command: Command, flags: readonly Flag[]): readonly FlagValue[] {
  return flags.flatMap((flag) => {
    const attribute = optionOf(flag).attributeName();
    return command.getOptionValueSource(attribute) === 'cli'
      ? [{ flag, value: command.getOptionValue(attribute) as unknown }]
      : [];
  });
}

/** withFlags returns a configuration in which the flags of the command line replace the existing values. */
export function withFlags(config: unknown, given: readonly FlagValue[]): Record<string, unknown> {
  return given.reduce((before, { flag, value }) => set(before, flag.path, value), asObject(config));
}

function set(config: unknown, [field, ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const object = asObject(config);
  if (field === undefined) return object;
  return { ...object, [field]: rest.length === 0 ? value : set(object[field], rest, value) };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function placeholder(schema: StructuralSchema): string {
  if (schema.type === 'boolean') return '[true|false]';
  if (schema.type === 'array') return '<a,b>';
  if (schema.enum) return `<${schema.enum.join('|')}>`;
  if (schema.format === 'duration') return '<duration>';
  return schema.type === 'string' ? '<text>' : '<number>';
}

function helpOf({ schema, env, repeatable }: Flag): string {
  const { description = '', default: value } = schema;
  const text = `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '');
  const defaults = [
    ...(env === undefined ? [] : [`$${env}`]),
    ...(value === undefined ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]),
  ];
  const notes = [
    ...(repeatable ? ['(can be repeated)'] : []),
    ...(defaults.length === 0 ? [] : [`(default: ${defaults.join(', else ')})`]),
  ];
  return [text, ...notes].filter((part) => part !== '').join(' ');
}

/** readFlag converts the text of a flag to its value. Throws an InvalidArgumentError that describes the problem. */
export function readFlag(text: string, schema: StructuralSchema): unknown {
  const value = parse(text, schema);
  const [problem] = validate(value, schema);
  if (!problem) return value;
  // Without a field the position is left out: the command line's own message names the flag.
  const where = problem.field === '' || problem.field === '<nil>' ? '' : `${problem.field}: `;
  throw new InvalidArgumentError(`${where}${problem.message.replace(/^Invalid value: .*?: (?: in body )?/, '')}.`);
}

function parse(text: string, schema: StructuralSchema): unknown {
  switch (schema.type) {
    case 'array':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
        .map((item) => parse(item, schema.items ?? {}));
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw new InvalidArgumentError('Must be true or false.');
    case 'integer':
    case 'number': {
      const number = Number(text);
      if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('Must be a number.');
      return number;
    }
    default:
      return text;
  }
}
