import type { CustomResourceColumnDefinition } from '@bowline/kubernetes';
import { canonicalJson, parseTime } from '@bowline/machinery';
import { age, shortDuration } from '../registry/age.ts';
import type { TableColumn } from '../registry/api-resource.ts';
import { type JsonPath, parseJsonPath } from './json-path.ts';

/**
 * printerColumns returns the columns that a definition specifies; undefined if it specifies none, in which case the age
 * is shown.
 */
export function printerColumns(
  definitions: readonly CustomResourceColumnDefinition[] | undefined,
): readonly TableColumn[] | undefined {
  if (!definitions || definitions.length === 0) return undefined;
  return definitions.map(({ name, type, format = '', description, priority = 0, jsonPath }) => {
    const find: JsonPath = parseJsonPath(jsonPath) ?? (() => []);
    return {
      name,
      type,
      format,
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      priority,
      cell: (object, now) => cellOf(type, find(object)[0], now),
    };
  });
}

/** cellOf returns a value as a column of a type shows it; null for a value of another type. */
function cellOf(type: string, value: unknown, now: number): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return typeof value === 'object' ? canonicalJson(value) : String(value);
  }
}

function ageOf(text: string, now: number): string {
  if (text === '') return age(undefined, now);
  const then = parseTime(text);
  return then === undefined ? '<invalid>' : shortDuration(now - then);
}
