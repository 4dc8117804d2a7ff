import { isObject } from './json.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** quoteText quotes text as the API server does: printable characters unchanged, others escaped as in Go source. */
export function quoteText(text: string): string {
  let quoted = '"';
  for (const character of text) {
    quoted += SHORT_ESCAPES[character] ?? (isPrintable(character) ? character : escapeCodePoint(character));
  }
  return `${quoted}"`;
}

function isPrintable(character: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character);
}

function escapeCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  // Go does not treat half a surrogate pair as a character.
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/**
 * formatFloat formats a floating point number like Go's `%v`: with an exponent from a million on, and below a
 * ten-thousandth.
 */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  // Within this range, JavaScript never uses an exponent itself.
  if (exponent >= -4 && exponent < 6) return Object.is(value, -0) ? '-0' : String(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** formatNumber formats a number as the API server does: whole numbers within 64 bits as integers, others as floats. */
export function formatNumber(value: number): string {
  return isInt64(value) ? BigInt(value).toString() : formatFloat(value);
}

const INT64_LIMIT = 2 ** 63;

/**
 * isInt64 reports whether the API server reads a number as an integer. `1.0` is one here, because JavaScript does not
 * distinguish it from `1`.
 */
export function isInt64(value: number | bigint): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
  return Number.isInteger(value) && value >= -INT64_LIMIT && value < INT64_LIMIT;
}

/** formatJson formats a value as Go marshals it: keys sorted, `<`, `>` and `&` escaped. */
export function formatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(',')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort(byUtf8)
      .map((key) => `${formatJson(key)}:${formatJson(value[key])}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'number') return isInt64(value) ? BigInt(value).toString() : JSON.stringify(value);
  const text = JSON.stringify(value ?? null);
  if (!/[<>&\u2028\u2029]/.test(text)) return text;
  return text.replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * byUtf8 orders text by bytes, as Go does. This differs from JavaScript's order only beyond the basic multilingual
 * plane.
 */
export function byUtf8(a: string, b: string): number {
  if (a === b) return 0;
  if (!/[\ud800-\udfff]/.test(a + b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * formatValue formats the offending value for an error message: text quoted, numbers plain, everything else as JSON.
 */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number') return formatNumber(value);
  return formatJson(value);
}
