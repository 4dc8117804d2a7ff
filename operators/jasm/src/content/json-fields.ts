import { JsonSyntaxError, parseJson } from '@bowline/machinery';
import { ContentProblem } from './content-problem.ts';

/** JsonNumber is a number as it was written, because parsing and serializing a number may lose digits. */
export class JsonNumber {
  readonly literal: string;

  constructor(literal: string) {
    this.literal = literal;
  }
}

/** JsonFields holds the members of a JSON object. Numbers at any depth are JsonNumbers. */
export type JsonFields = Readonly<Record<string, unknown>>;

/**
 * jsonFields parses a text that must be a JSON object. It throws a ContentProblem that contains no character of the
 * text.
 */
export function jsonFields(text: string): JsonFields {
  const value = parsed(text);
  if (isFields(value)) return value;
  throw new ContentProblem(
    'SecretParseFailed',
    `the secret must be a JSON object, but is ${kindOf(value)}; for a single value, set format to raw, and set key`,
  );
}

function parsed(text: string): unknown {
  try {
    // Some editors write a byte order mark at the start of a file.
    return parseJson(text.replace(/^\ufeff/, ''), { number: (literal) => new JsonNumber(literal) }).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const before = text.slice(0, error.position).split('\n');
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new ContentProblem(
      'SecretParseFailed',
      `the secret is not valid JSON at ${place}; correct it in the store, or set format to raw, and set key`,
    );
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof JsonNumber) return 'a number';
  return typeof value === 'boolean' ? 'true or false' : 'text';
}

/** isFields reports whether a value is a JSON object. */
export function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/**
 * jsonText returns a value as text: a string as is, a number as it was written, `true`, and compact JSON for lists and
 * objects.
 */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : compact(value);
}

function compact(value: unknown): string {
  if (value instanceof JsonNumber) return value.literal;
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`;
  if (!isFields(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${compact(member)}`);
  return `{${members.join(',')}}`;
}

/**
 * Far more than any path needs. Without a limit, a key of a thousand dots and an object crafted to match it would block
 * the process for minutes.
 */
const MAX_SPLITS = 4_096;

/**
 * memberAt returns the member with the name `key`, or else the member at the dotted path `key`. It returns undefined if
 * neither exists.
 */
export function memberAt(fields: JsonFields, key: string): unknown {
  return memberWithin(fields, key, { left: MAX_SPLITS });
}

function memberWithin(fields: JsonFields, key: string, splits: { left: number }): unknown {
  if (Object.hasOwn(fields, key)) return fields[key];
  // A name may itself contain dots: `db.example.com.password` is split in every possible way, the longest name first.
  for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) {
    if (splits.left-- <= 0) return undefined;
    const name = key.slice(0, dot);
    const below = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const found = isFields(below) ? memberWithin(below, key.slice(dot + 1), splits) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
