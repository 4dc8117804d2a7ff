import { quoteText } from '@bowline/machinery';
import { FORMAT_NAMES } from '@bowline/machinery/schema';
import { below, branchesOf, type SchemaProps } from './schema-props.ts';

/** Formats that are known although nothing is checked by them. */
const KNOWN: ReadonlySet<string> = new Set([...FORMAT_NAMES, 'int32', 'int64', 'float', 'double', 'password']);

/** formatWarnings names the formats in a schema that nobody knows: they are kept, and mean nothing. */
export function formatWarnings(schema: SchemaProps): string[] {
  const { format } = schema;
  const own = format && !KNOWN.has(format) ? [`unrecognized format ${quoteText(format)}`] : [];
  const inner = [...below(schema, ''), ...branchesOf(schema, '')];
  return [...own, ...inner.flatMap((each) => formatWarnings(each.schema))];
}
