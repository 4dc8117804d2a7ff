import { BowlineError } from '../errors/bowline-error.ts';
import { InputError } from '../errors/input-error.ts';

// Both forms of the micro sign occur: U+00B5 on keyboards, U+03BC in Greek. Go accepts both.
const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const INT64_LIMIT = 2n ** 63n;
const INT64_DIGITS = 19;
const NANOSECONDS_PER_MS = 1_000_000;

/**
 * parseDuration parses a duration in the Kubernetes format (`1h30m`, `1.5s`, `-2ms`, `0`) and returns milliseconds,
 * possibly with a fraction. There is no unit above the hour.
 */
export function parseDuration(text: string): number {
  return Number(parseDurationNs(text)) / NANOSECONDS_PER_MS;
}

/** parseDurationNs parses a duration exactly, in nanoseconds. */
export function parseDurationNs(text: string): bigint {
  const match = /^([+-]?)(.+)$/s.exec(text);
  if (!match) throw malformed(text);
  const [, sign, terms = ''] = match;
  if (terms === '0') return 0n;
  let total = 0n;
  const term = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;
  while (term.lastIndex < terms.length) {
    const [, whole = '', fraction = '', unit = ''] = term.exec(terms) ?? [];
    if (whole === '' && fraction === '') throw malformed(text);
    if (unit === '') throw invalid(text, `time: missing unit in duration ${quote(text)}`);
    const scale = Object.hasOwn(NANOSECONDS, unit) ? NANOSECONDS[unit] : undefined;
    if (scale === undefined) throw invalid(text, `time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    const digits = whole.replace(/^0+/, '');
    if (digits.length > INT64_DIGITS) throw malformed(text);
    total += BigInt(digits) * scale + fractionOf(fraction, scale);
    if (total > INT64_LIMIT) throw malformed(text);
  }
  if (total === INT64_LIMIT && sign !== '-') throw malformed(text);
  return sign === '-' ? -total : total;
}

/**
 * Go multiplies the fraction in floating point and truncates; this does the same, so that both return the same
 * nanosecond.
 */
function fractionOf(digits: string, scale: bigint): bigint {
  // Go reads as many digits as fit into 63 bits and ignores the rest.
  const leadingZeros = /^0*/.exec(digits)?.[0].length ?? 0;
  const nineteen = digits.slice(0, leadingZeros + INT64_DIGITS);
  const significant = BigInt(nineteen) <= INT64_LIMIT ? nineteen : nineteen.slice(0, -1);
  return BigInt(Math.trunc(Number(significant) * (Number(scale) / 10 ** significant.length)));
}

/** Go's time package quotes byte by byte, so a misplaced micro sign becomes two escapes. */
function quote(text: string): string {
  const escaped = Array.from(Buffer.from(text), (byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`;
    const character = String.fromCharCode(byte);
    return character === '"' || character === '\\' ? `\\${character}` : character;
  });
  return `"${escaped.join('')}"`;
}

function malformed(text: string): InputError {
  return invalid(text, `time: invalid duration ${quote(text)}`);
}

function invalid(text: string, detail: string): InputError {
  return new InputError('BOWLINE_DURATION_INVALID', 'the duration', text, detail);
}

/** formatDuration formats milliseconds as Go does: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  const nanoseconds = Math.round(ms * NANOSECONDS_PER_MS);
  if (!Number.isFinite(nanoseconds))
    throw new BowlineError('BOWLINE_DURATION_INVALID', `cannot format ${ms} as a duration; use a finite number`);
  return formatDurationNs(BigInt(nanoseconds));
}

/** formatDurationNs formats nanoseconds as Go does. */
export function formatDurationNs(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDurationNs(-nanoseconds)}`;
  if (nanoseconds === 0n) return '0s';
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}\u00b5s`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 6)}ms`;
  const minute = 60_000_000_000n;
  const seconds = `${decimal(nanoseconds % minute, 9)}s`;
  const minutes = nanoseconds / minute;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Formats value / 10^places without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  const whole = digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
