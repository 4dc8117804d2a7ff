import { formatFloat, quoteText } from '../../json/go-text.ts';
import { MAX_STEPS } from '../frame.ts';
import { kindOf, typeName } from '../overloads.ts';
import { formatTimestamp } from '../time-text.ts';
import { type CelType, formatType, isUnknown } from '../types.ts';
import {
  CelFailure,
  type CelValue,
  DurationValue,
  ListValue as List,
  type ListValue,
  MapValue,
  TimestampValue,
  TypeValue,
} from '../values.ts';
import { formatDurationSeconds } from './conversions.ts';

/**
 * MAX_RESULT_LENGTH is longer than any text that the step limit allows: a longer text is rejected before it is created.
 */
export const MAX_RESULT_LENGTH = MAX_STEPS * 16;

/** The maximum number of digits that JavaScript can format. */
const MAX_DIGITS = 100;

const CLAUSE = /%(?:%|(\.([0-9]{1,3}))?(.))/gs;

/** formatText replaces the clauses in a text: `%s`, `%d`, `%f`, `%.2f`, `%b`, `%o`, `%x`, `%X` and `%%`. */
export function formatText(text: string, values: ListValue): string {
  let next = 0;
  let length = text.length;
  const { items } = values;
  return text.replace(CLAUSE, (clause: string, _: unknown, precision: string | undefined, verb: string | undefined) => {
    if (clause === '%%') return '%';
    const value = items[next];
    if (value === undefined) throw new CelFailure(`index ${next} out of range`);
    next++;
    const formatted = clauseOf(verb ?? '', value, precision === undefined ? 6 : Number(precision));
    length += formatted.length;
    if (length > MAX_RESULT_LENGTH)
      throw new CelFailure(`the result of format would have more than ${MAX_RESULT_LENGTH} characters`);
    return formatted;
  });
}

const ACCEPTED_KINDS: ReadonlyMap<string, readonly CelType['kind'][]> = new Map([
  ['s', []],
  ['d', ['int']],
  ['f', ['double']],
  ['b', ['int', 'bool']],
  ['o', ['int']],
  ['x', ['int', 'string', 'bytes']],
  ['X', ['int', 'string', 'bytes']],
]);

/**
 * formatProblem returns what is wrong with the clauses of a literal text for arguments of these types, or undefined.
 */
export function formatProblem(text: string, types: readonly CelType[] | undefined): string | undefined {
  let next = 0;
  for (const [clause, , precision = '0', verb = ''] of text.matchAll(CLAUSE)) {
    if (clause === '%%') continue;
    if (Number(precision) > MAX_DIGITS) return `the clause ${clause} requests more than ${MAX_DIGITS} digits`;
    const kinds = ACCEPTED_KINDS.get(verb);
    if (kinds === undefined) return `the clause ${clause} is not supported; use %s, %d, %f, %b, %o, %x or %X`;
    if (types === undefined) continue;
    const type = types[next++];
    if (type === undefined) return `missing argument for the clause ${clause}`;
    if (kinds.length > 0 && !isUnknown(type) && !kinds.includes(type.kind))
      return `the clause ${clause} does not accept a value of type ${formatType(type)}`;
  }
  return undefined;
}

function clauseOf(verb: string, value: CelValue, precision: number): string {
  if (precision > MAX_DIGITS)
    throw new CelFailure(`the format clause %.${precision}${verb} requests more than ${MAX_DIGITS} digits`);
  switch (verb) {
    case 's':
      return plain(value);
    case 'd':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'f':
      // The API server groups thousands, as in English.
      if (typeof value === 'number' && Number.isFinite(value))
        return value.toLocaleString('en-US', {
          minimumFractionDigits: precision,
          maximumFractionDigits: precision,
          roundingMode: 'halfEven',
        });
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    case 'x':
    case 'X': {
      const hex = hexOf(value);
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw new CelFailure(`the format clause %${verb} does not accept a value of type ${typeName(value)}`);
}

function hexOf(value: CelValue): string | undefined {
  if (typeof value === 'bigint') return value.toString(16);
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined;
}

function plain(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatFloat(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof DurationValue) return formatDurationSeconds(value);
  if (value instanceof TimestampValue) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof List) return `[${value.items.map(nested).join(', ')}]`;
  if (value instanceof MapValue) {
    const pairs = value.entries().map(([key, item]) => `${nested(key)}:${nested(item)}`);
    return `{${pairs.sort().join(', ')}}`;
  }
  throw new CelFailure(`the format clause %s does not accept a value of type ${kindOf(value)}`);
}

function nested(value: CelValue): string {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(6) : quoteText(formatFloat(value));
  if (value instanceof TimestampValue) return `timestamp(${quoteText(plain(value))})`;
  if (value instanceof DurationValue) return `duration(${quoteText(plain(value))})`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  return plain(value);
}
