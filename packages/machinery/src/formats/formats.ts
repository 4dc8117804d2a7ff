import { parseDurationNs } from '../values/duration.ts';
import { isEmailAddress } from './email-address.ts';
import { parseIp, parsePrefixLength } from './ip-address.ts';
import { isRequestUri } from './request-uri.ts';

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matcher(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmailAddress],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseIp(text, { sloppy: true }) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matcher(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ['k8slongname', (text) => text.length <= 253 && LONG_NAME.test(text)],
]);

/**
 * formatCheck returns the API server's check for a format of text, or undefined for a format that it ignores. Dashes in
 * the name do not matter. Formats of numbers are not checked.
 */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return FORMATS.get(format.replaceAll('-', ''));
}

/** FORMAT_NAMES lists the formats that the API server checks, as users write them. */
export const FORMAT_NAMES: readonly string[] = [...FORMATS.keys()].map((name) => {
  return { datetime: 'date-time', k8sshortname: 'k8s-short-name', k8slongname: 'k8s-long-name' }[name] ?? name;
});

const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function matcher(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

// Letters and symbols of any script; the last label of several has two or more letters.
const HOST_NAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

function isHostname(text: string): boolean {
  if (text.length > 255 || Buffer.byteLength(text) > 255 || !HOST_NAME.test(text)) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = parseIp(text.slice(0, slash), { sloppy: true });
  return (
    address !== undefined && parsePrefixLength(text.slice(slash + 1), address.length, { sloppy: true }) !== undefined
  );
}

function isMac(text: string): boolean {
  const octets = /^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2})*$/.test(text) ? (text.length + 1) / 3 : 0;
  const words = /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text) ? ((text.length + 1) / 5) * 2 : 0;
  return [6, 8, 20].includes(octets || words);
}

function digitsOf(text: string): number[] {
  return Array.from(text, (digit) => (digit === 'X' ? 10 : Number(digit)));
}

function isIsbn10(text: string): boolean {
  const plain = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(plain)) return false;
  return digitsOf(plain).reduce((sum, digit, index) => sum + (index + 1) * digit, 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^[0-9]{13}$/.test(plain)) return false;
  return digitsOf(plain).reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * digit, 0) % 10 === 0;
}

const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const plain = text.replace(/[^0-9]+/g, '');
  if (!CARD.test(plain)) return false;
  const luhn = digitsOf(plain)
    .reverse()
    .map((digit, index) => (index % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)));
  return luhn.reduce((sum, digit) => sum + digit, 0) % 10 === 0;
}

const COLOR_PART = '[\\t\\n\\f\\r ]*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])[\\t\\n\\f\\r ]*';
const RGB_COLOR = new RegExp(`^rgb\\(${COLOR_PART},${COLOR_PART},${COLOR_PART}\\)$`);

function isRgbColor(text: string): boolean {
  return RGB_COLOR.test(text);
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return date.getUTCMonth() === Number(match[2]) - 1 && date.getUTCDate() === Number(match[3]);
}

function isDateTime(text: string): boolean {
  // The API server only checks the text up to the second letter t, in upper or lower case.
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u.exec(time);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

const LENIENT_UNIT = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

// Long runs of digits are tried from every position; no real duration has a thousand characters.
const MAX_LENIENT_DURATION_LENGTH = 1_000;

/**
 * Accepts Go durations, and also `3 days` or `2 weeks and 1 hour`: any number before a known unit counts, the rest is
 * ignored.
 */
function isDuration(text: string): boolean {
  try {
    parseDurationNs(text);
    return true;
  } catch {
    if (text.length > MAX_LENIENT_DURATION_LENGTH) return false;
    const parts = [...text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)];
    if (parts.some(([, number = '']) => Number(number) >= 2 ** 63)) return false;
    return parts.some(([, , unit = '']) => LENIENT_UNIT.test(unit));
  }
}
