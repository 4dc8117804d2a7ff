import { Option } from 'commander';

/** OutputFormat is how a command prints its result: a table for people, JSON or YAML for programs. */
export type OutputFormat = 'table' | 'json' | 'yaml';

const FORMATS: readonly OutputFormat[] = ['table', 'json', 'yaml'];

/** outputOption is `-o`, which is the same for every command that prints objects or facts, but for what it prints unless told. */
export function outputOption(byDefault: OutputFormat): Option {
  return new Option('-o, --output <format>', 'how to print').choices(FORMATS).default(byDefault);
}

/** printFacts is a value as text; `table` is how people get it. */
export async function printFacts(value: unknown, format: OutputFormat, table: () => string): Promise<string> {
  switch (format) {
    case 'table':
      return table();
    case 'json':
      return `${JSON.stringify(value, null, 2)}\n`;
    case 'yaml': {
      // Most commands print none, and start sooner without it.
      const { stringify } = await import('yaml');
      return stringify(value);
    }
  }
}
