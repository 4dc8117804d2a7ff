import type { OutputFormat } from './output-format.ts';

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
