import { InputError } from '../errors/input-error.ts';

/** QuantityFormat is the family of suffixes of a quantity, which formatting preserves. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Quantity is an exact amount of a resource. The smallest unit in Kubernetes is a billionth. */
export interface Quantity {
  /** The amount in billionths. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const NANOS_PER_UNIT = 10n ** 9n;
const MAX_INT64 = 2n ** 63n - 1n;
// Kubernetes has no limit, so one line of input can keep a server busy; real quantities have a dozen characters.
const MAX_TEXT_LENGTH = 256;
const MAX_EXPONENT = 256;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';
const WRONG_SUFFIX = "unable to parse quantity's suffix";

/**
 * parseQuantity parses a resource quantity: `100m`, `1.5Gi`, `12e6`. Amounts finer than a billionth are rounded up,
 * away from zero; binary amounts are capped at the largest int64, as in the API server. It accepts what the API server
 * accepts, up to 256 characters and an exponent of 256, except for a text without any digit, which the API server may
 * read as zero.
 *
 * A JSON number is converted to its shortest decimal form.
 *
 * @example
 * formatQuantity(parseQuantity('1.5Gi')); // '1536Mi'
 */
export function parseQuantity(input: string | number): Quantity {
  const text = String(input);
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
  if (!match || text === '' || text.length > MAX_TEXT_LENGTH) throw invalid(text, WRONG_FORMAT);
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const unit = unitOf(suffix);
  if (!unit) throw invalid(text, WRONG_SUFFIX);
  if (whole === '' && fraction === '') throw invalid(text, WRONG_NUMBER);
  const digits = BigInt(`0${whole}${fraction}`);
  const shift = unit.exponent - fraction.length + 9;
  let magnitude = shift >= 0 ? digits * unit.factor * 10n ** BigInt(shift) : shiftDown(digits * unit.factor, -shift);
  let format = unit.format;
  if (format === 'BinarySI') {
    if (magnitude > MAX_INT64 * NANOS_PER_UNIT) magnitude = MAX_INT64 * NANOS_PER_UNIT;
    // An amount below one cannot be written with a binary suffix.
    if (magnitude > 0n && magnitude < NANOS_PER_UNIT) format = 'DecimalSI';
  }
  return { nanos: sign === '-' ? -magnitude : magnitude, format };
}

interface Unit {
  readonly format: QuantityFormat;
  readonly factor: bigint;
  readonly exponent: number;
}

function unitOf(suffix: string): Unit | undefined {
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  if (decimal >= 0) return { format: 'DecimalSI', factor: 1n, exponent: decimal * 3 - 9 };
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { format: 'BinarySI', factor: 1024n ** BigInt(binary), exponent: 0 };
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > MAX_EXPONENT) return undefined;
  return { format: 'DecimalExponent', factor: 1n, exponent: Number(exponent) };
}

/** Divides by a power of ten and rounds up: a request for a nonzero amount never becomes zero. */
function shiftDown(value: bigint, places: number): bigint {
  const divisor = 10n ** BigInt(places);
  return (value + divisor - 1n) / divisor;
}

function invalid(text: string, detail: string): InputError {
  return new InputError('BOWLINE_QUANTITY_INVALID', 'the quantity', text, detail);
}

/**
 * formatQuantity returns the canonical form: without a fraction, with the largest possible suffix of the quantity's own
 * family. Amounts below 1024 and fractions of binary quantities use decimal suffixes. An amount beyond the largest
 * suffix keeps that suffix (`1000E`), where Kubernetes itself would drop the suffix and with it the value.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  const whole = nanos % NANOS_PER_UNIT === 0n;
  const units = nanos / NANOS_PER_UNIT;
  if (format === 'BinarySI' && whole && (units <= -1024n || units >= 1024n)) {
    const [amount, power] = removeFactors(units, 1024n, BINARY_SUFFIXES.length - 1);
    return `${amount}${BINARY_SUFFIXES[power]}`;
  }
  if (format === 'DecimalExponent') {
    const [amount, power] = removeFactors(nanos, 1000n, Number.POSITIVE_INFINITY);
    return power === 3 ? `${amount}` : `${amount}e${power * 3 - 9}`;
  }
  const [amount, power] = removeFactors(nanos, 1000n, DECIMAL_SUFFIXES.length - 1);
  return `${amount}${DECIMAL_SUFFIXES[power]}`;
}

function removeFactors(value: bigint, factor: bigint, maxCount: number): [rest: bigint, removed: number] {
  let rest = value;
  let removed = 0;
  while (removed < maxCount && rest % factor === 0n) {
    rest /= factor;
    removed++;
  }
  return [rest, removed];
}

/** compareQuantities returns -1, 0 or 1 if `a` is less than, equal to or more than `b`; formats do not matter. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nanos === b.nanos) return 0;
  return a.nanos < b.nanos ? -1 : 1;
}

/** addQuantities returns `a + b` in the format of `a`, or of `b` if `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** subtractQuantities returns `a - b` in the format of `a`, or of `b` if `a` is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { nanos: -b.nanos, format: b.format });
}

/** wholeUnits returns the amount in whole units, rounded away from zero: bytes of memory, for example. */
export function wholeUnits(quantity: Quantity): bigint {
  return roundAwayFromZero(quantity.nanos, NANOS_PER_UNIT);
}

/** wholeMilliUnits returns the amount in thousandths, rounded away from zero: millicores of CPU, for example. */
export function wholeMilliUnits(quantity: Quantity): bigint {
  return roundAwayFromZero(quantity.nanos, NANOS_PER_UNIT / 1000n);
}

function roundAwayFromZero(value: bigint, unit: bigint): bigint {
  return value < 0n ? -((-value + unit - 1n) / unit) : (value + unit - 1n) / unit;
}
