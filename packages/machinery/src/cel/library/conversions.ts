import { formatFloat } from '../../json/go-text.ts';
import { parseDurationNs } from '../../values/duration.ts';
import { overload, typeName } from '../overloads.ts';
import { formatTimestamp, parseTimestamp } from '../time-text.ts';
import {
  CelFailure,
  type CelValue,
  DurationValue,
  type ListValue,
  type MapValue,
  TimestampValue,
  TypeValue,
} from '../values.ts';
import { int64 } from './operators.ts';

function cannotConvert(from: string, to: string): CelFailure {
  return new CelFailure(`type conversion error from '${from}' to '${to}'`);
}

/** formatDurationSeconds formats a duration as CEL does: in seconds. */
export function formatDurationSeconds({ nanoseconds }: DurationValue): string {
  const sign = nanoseconds < 0n ? '-' : '';
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = (magnitude % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
}

function textToInt(text: string): bigint {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) throw cannotConvert('string', 'int');
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw cannotConvert('string', 'int');
  return value;
}

function textToDouble(text: string): number {
  const isNumber = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text);
  if (isNumber) return Number(text);
  if (/^[+-]?(?:inf|infinity)$/i.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  throw cannotConvert('string', 'double');
}

function doubleToInt(value: number): bigint {
  if (!Number.isFinite(value)) throw new CelFailure('integer overflow');
  return int64(BigInt(Math.trunc(value)));
}

const TRUE = ['true', 't', '1', 'TRUE', 'True', 'T'];
const FALSE = ['false', 'f', '0', 'FALSE', 'False', 'F'];

function textToBool(text: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw cannotConvert('string', 'bool');
}

function textToDuration(text: string): DurationValue {
  try {
    return new DurationValue(parseDurationNs(text));
  } catch {
    throw cannotConvert('string', 'google.protobuf.Duration');
  }
}

function textToTimestamp(text: string): TimestampValue {
  try {
    return parseTimestamp(text);
  } catch {
    throw cannotConvert('string', 'google.protobuf.Timestamp');
  }
}

function bytesToText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CelFailure('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** countCharacters returns the length of a text in code points. */
export function countCharacters(text: string): bigint {
  let count = 0;
  for (const _ of text) count++;
  return BigInt(count);
}

const size = (
  [
    ['string', (value: string) => countCharacters(value)],
    ['bytes', (value: Uint8Array) => BigInt(value.length)],
    ['list<A>', (value: ListValue) => BigInt(value.length)],
    ['map<A, B>', (value: MapValue) => BigInt(value.size)],
  ] as const
).flatMap(([type, run]) => [overload(`size(${type}): int`, run), overload(`${type}.size(): int`, run)]);

/** conversions holds the functions that convert a value from one type to another. */
export const conversions = [
  ...size,
  overload('dyn(A): dyn', (value: CelValue) => value),
  overload('type(A): type', (value: CelValue) => new TypeValue(typeName(value))),
  overload('int(int): int', (value: bigint) => value),
  overload('int(double): int', doubleToInt),
  overload('int(string): int', textToInt),
  overload(
    'int(timestamp): int',
    (value: TimestampValue) =>
      (value.nanoseconds - (((value.nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n,
  ),
  overload('int(duration): int', (value: DurationValue) => value.nanoseconds),
  overload('double(double): double', (value: number) => value),
  overload('double(int): double', (value: bigint) => Number(value)),
  overload('double(string): double', textToDouble),
  overload('bool(bool): bool', (value: boolean) => value),
  overload('bool(string): bool', textToBool),
  overload('bytes(bytes): bytes', (value: Uint8Array) => value),
  overload('bytes(string): bytes', (value: string) => Uint8Array.from(Buffer.from(value))),
  overload('string(string): string', (value: string) => value),
  overload('string(bool): string', (value: boolean) => String(value)),
  overload('string(int): string', (value: bigint) => String(value)),
  overload('string(double): string', (value: number) => formatFloat(value)),
  overload('string(bytes): string', bytesToText),
  overload('string(timestamp): string', (value: TimestampValue) => formatTimestamp(value)),
  overload('string(duration): string', formatDurationSeconds),
  overload('timestamp(timestamp): timestamp', (value: TimestampValue) => value),
  overload('timestamp(string): timestamp', textToTimestamp),
  overload('timestamp(int): timestamp', (value: bigint) => new TimestampValue(value * 1_000_000_000n)),
  overload('duration(duration): duration', (value: DurationValue) => value),
  overload('duration(string): duration', textToDuration),
  overload('duration(int): duration', (value: bigint) => new DurationValue(value)),
];
