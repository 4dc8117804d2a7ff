import { applyDefaults, describeProblems, type StructuralSchema, validate } from '@bowline/machinery/schema';
import { BowlineError } from '@bowline/runtime';

/**
 * parseFlags returns the options that a command line of `--name=value` flags describes, with the defaults of their schema, as the
 * program does. Flags that the schema does not have are left out.
 */
export function parseFlags(args: readonly string[], schema: StructuralSchema): unknown {
  const given: Record<string, unknown> = {};
  for (const arg of args) {
    const [flag = '', value = ''] = arg.replace(/^--/, '').split(/=(.*)/s, 2);
    const name = flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    const type = schema.properties?.[name]?.type;
    if (type !== undefined) given[name] = flagValue(value, type);
  }
  const options = applyDefaults(given, schema);
  const problems = validate(options, schema);
  if (problems.length === 0) return options;
  throw new BowlineError('BOWLINE_SIDECAR_UNSUPPORTED', `cannot run the agent: ${describeProblems(problems)}`);
}

function flagValue(text: string, type: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return type === 'integer' || type === 'number' ? Number(text) : text;
}
