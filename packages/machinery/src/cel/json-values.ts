import { isInt64 } from '../json/go-text.ts';
import { isObject } from '../json/json.ts';
import { parseDurationNs } from '../values/duration.ts';
import { formatDurationSeconds } from './library/conversions.ts';
import { MAX_DATA_DEPTH } from './measure-json.ts';
import { isOfType, typeName } from './overloads.ts';
import { ObjectValue, OpaqueValue } from './schema-values.ts';
import { formatTimestamp, parseTimestamp } from './time-text.ts';
import { type CelType, formatType } from './types.ts';
import {
  CelFailure,
  type CelValue,
  DurationValue,
  ListValue,
  MapValue,
  OptionalValue,
  TimestampValue,
  TypeValue,
} from './values.ts';

/**
 * fromJson converts JSON to a CEL value for a variable of the given type. Whole numbers become integers unless the type
 * is double.
 */
export function fromJson(json: unknown, type: CelType, depth = 0): CelValue {
  if (depth > MAX_DATA_DEPTH) throw new CelFailure(`the data is nested deeper than ${MAX_DATA_DEPTH} levels`);
  const value = convert(json, type, depth);
  if (!isOfType(value, type))
    throw new CelFailure(`expected a value of type ${formatType(type)}, not ${typeName(value)}`);
  return value;
}

function convert(json: unknown, type: CelType, depth: number): CelValue {
  if (json === null || json === undefined) return null;
  if (typeof json === 'number') return type.kind !== 'double' && isInt64(json) ? BigInt(json) : json;
  if (typeof json === 'string') {
    if (type.kind === 'duration') return new DurationValue(parseDurationNs(json));
    return type.kind === 'timestamp' ? parseTimestamp(json) : json;
  }
  if (typeof json === 'boolean' || typeof json === 'bigint' || json instanceof Uint8Array) return json;
  if (Array.isArray(json)) {
    const element: CelType = type.kind === 'list' ? type.element : { kind: 'dyn' };
    return new ListValue(json.map((item) => fromJson(item, element, depth + 1)));
  }
  if (!isObject(json)) throw new CelFailure(`a value of JavaScript type ${typeof json} is not JSON`);
  const value: CelType = type.kind === 'map' ? type.value : { kind: 'dyn' };
  const members = Object.entries(json).filter(([, item]) => item !== undefined);
  return new MapValue(members.map(([key, item]) => [key, fromJson(item, value, depth + 1)] as const));
}

/** toJson converts a CEL value to JSON. An absent optional value becomes undefined. */
export function toJson(value: CelValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof ListValue) return value.items.map(toJson);
  if (value instanceof MapValue)
    return Object.fromEntries(value.entries().map(([key, item]) => [String(key), toJson(item)]));
  if (value instanceof ObjectValue || value instanceof OpaqueValue) return value.json;
  if (value instanceof OptionalValue) return value.value === undefined ? undefined : toJson(value.value);
  if (value instanceof TimestampValue) return formatTimestamp(value);
  if (value instanceof DurationValue) return formatDurationSeconds(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof TypeValue) return value.name;
  throw new CelFailure(`a value of type ${typeName(value)} has no JSON form; convert it with string()`);
}
