import { quoteText } from '@bowline/machinery';
import { FORMAT_NAMES } from '@bowline/machinery/schema';
import { below, branchesOf, type SchemaProps } from './schema-props.ts';

/** Recognized formats, including some that are not checked. */
const KNOWN: ReadonlySet<string> = new Set([...FORMAT_NAMES, 'int32', 'int64', 'float', 'double', 'password']);

/** formatWarnings returns warnings for the unrecognized formats in a schema: they are stored and have no effect. */
export function formatWarnings(schema: SchemaProps): string[] {
  const { format } = schema;
  const own = format && !KNOWN.has(format) ? [`unrecognized format ${quoteText(format)}`] : [];
  const inner = [...below(schema, ''), ...branchesOf(schema, '')];
  return [...own, ...inner.flatMap((each) => formatWarnings(each.schema))];
}
