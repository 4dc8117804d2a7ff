import { Option } from 'commander';

/** OutputFormat is the format of a command's result: a table for people, JSON or YAML for programs. */
export type OutputFormat = 'table' | 'json' | 'yaml';

const FORMATS: readonly OutputFormat[] = ['table', 'json', 'yaml'];

/**
 * outputOption returns the option `-o`, which is the same for every command that prints objects or facts, except for
 * its default.
 */
export function outputOption(byDefault: OutputFormat): Option {
  return new Option('-o, --output <format>', 'output format').choices(FORMATS).default(byDefault);
}

/** printValue formats a value as text; `table` formats it for people. */
export async function printValue(value: unknown, format: OutputFormat, table: () => string): Promise<string> {
  switch (format) {
    case 'table':
      return table();
    case 'json':
      return `${JSON.stringify(value, null, 2)}\n`;
    case 'yaml': {
      // Most commands print no YAML, and start faster without the library.
      const { stringify } = await import('yaml');
      return stringify(value);
    }
  }
}
