import {
  BowlineError,
  formatMicroTime,
  formatQuantity,
  formatTime,
  parseQuantity,
  parseTime,
} from '@bowline/machinery';

/** ReadText holds a text in the normalized form in which it is stored, or the API server's error message for it. */
export type ReadText = { readonly text: string } | { readonly text?: never; readonly problem: string };

const QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Caches normalized quantities: most objects use the same few. */
const quantities = new Map<string, string>();
const MAX_CACHED_QUANTITIES = 1_000;

/** readQuantity normalizes a quantity: `1024Mi` and `1Gi` are the same. */
export function readQuantity(value: unknown): ReadText {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return { problem: QUANTITY_RULE };
  const given = String(value);
  const known = quantities.get(given);
  if (known !== undefined) return { text: known };
  try {
    const text = formatQuantity(parseQuantity(given));
    if (quantities.size >= MAX_CACHED_QUANTITIES) quantities.clear();
    if (given.length <= 32) quantities.set(given, text);
    return { text };
  } catch (error) {
    if (error instanceof BowlineError) return { problem: problemOf(error) };
    throw error;
  }
}

function problemOf({ message }: BowlineError): string {
  const rules = ['unable to parse numeric part of quantity', "unable to parse quantity's suffix"];
  return rules.find((rule) => message.includes(rule)) ?? QUANTITY_RULE;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** readBytes normalizes base64 as Go decodes it: line breaks are ignored, every other character counts. */
export function readBytes(given: string): ReadText {
  const text = /[\r\n]/.test(given) ? given.replaceAll(/[\r\n]/g, '') : given;
  if (!BASE64.test(text)) return { problem: `illegal base64 data at input byte ${firstIllegal(given)}` };
  if (!text.endsWith('=')) return { text };
  // Unused trailing bits are dropped.
  return { text: Buffer.from(text, 'base64').toString('base64') };
}

/**
 * firstIllegal returns the offset at which decoding fails: the first illegal character, or the start of the last group
 * of four.
 */
function firstIllegal(text: string): number {
  let group = 0;
  let inGroup = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '\r' || character === '\n') continue;
    if (character === '=') {
      if (inGroup < 2) return index;
      let next = index + 1;
      while (/[\r\n]/.test(text.charAt(next))) next++;
      if (inGroup === 2) {
        if (next >= text.length) return text.length;
        if (text.charAt(next) !== '=') return index;
        next++;
      }
      while (/[\r\n]/.test(text.charAt(next))) next++;
      return next;
    }
    if (!/[A-Za-z0-9+/]/.test(character)) return index;
    if (inGroup === 0) group = index;
    inGroup = (inGroup + 1) % 4;
  }
  return group;
}

/** Fields whose times have microseconds; all others have whole seconds. */
const MICRO_TIMES: ReadonlySet<string> = new Set(['acquireTime', 'renewTime', 'eventTime', 'lastObservedTime']);
const SECONDS = '2006-01-02T15:04:05Z07:00';
const MICROS = '2006-01-02T15:04:05.000000Z07:00';

type Layout = readonly (readonly [RegExp, string])[];
const DATE: Layout = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d\d/, '01'],
  [/^-/, '-'],
  [/^\d\d/, '02'],
  [/^T/, 'T'],
  [/^\d\d/, '15'],
  [/^:/, ':'],
  [/^\d\d/, '04'],
  [/^:/, ':'],
];
const ZONE: Layout = [[/^(?:Z|[+-]\d\d:\d\d)/, 'Z07:00']];
const SECONDS_LAYOUT: Layout = [...DATE, [/^\d\d(?:[.,]\d+)?/, '05'], ...ZONE];
const MICROS_LAYOUT: Layout = [...DATE, [/^\d\d/, '05'], [/^\.\d{6}/, '.000000'], ...ZONE];

/** readTime normalizes a time; `field` determines its precision. */
export function readTime(given: string, field: string): ReadText {
  const isMicro = MICRO_TIMES.has(field);
  const about = `parsing time ${JSON.stringify(given)}`;
  let rest = given;
  for (const [pattern, layout] of isMicro ? MICROS_LAYOUT : SECONDS_LAYOUT) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) {
      const whole = JSON.stringify(isMicro ? MICROS : SECONDS);
      return { problem: `${about} as ${whole}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(layout)}` };
    }
    rest = rest.slice(found.length);
  }
  if (rest !== '') return { problem: `${about}: extra text: ${JSON.stringify(rest)}` };
  try {
    const ms = parseTime(given.replace(',', '.'));
    return { text: isMicro ? formatMicroTime(ms) : formatTime(ms) };
  } catch (error) {
    if (error instanceof BowlineError) return { problem: `${about}: ${outOfRange(given)} out of range` };
    throw error;
  }
}

function outOfRange(text: string): string {
  const [, month = 0, , hour = 0, minute = 0] = text.split(/[-T:]/).map(Number);
  if (month < 1 || month > 12) return 'month';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  return Number(text.slice(17, 19)) > 59 ? 'second' : 'day';
}
