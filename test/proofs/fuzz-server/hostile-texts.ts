import { integerBelow, pick, type Random } from '@bowline/machinery';

/** KEYS are member names that break careless programs. */
export const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  'length',
  '$ref',
  '$patch',
  '$retainKeys',
  '',
  ' ',
  'a.b',
  'a/b',
  '~0',
  '0',
  '-1',
  'é',
  '\u0000',
  '\ud800',
  'metadata',
  'apiVersion',
  'kind',
  'name',
  'managedFields',
];

const TEXTS = [
  ...KEYS,
  'a',
  'sample',
  'default',
  '..',
  '.',
  '%',
  '%s',
  '%2f',
  '../../secrets',
  '\n',
  '\r\nx: y',
  '"',
  "'",
  '\\',
  '<script>',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '😀',
  '1e999',
  '-0',
  '9223372036854775808',
  '0x10',
  'NaN',
  'null',
  'true',
  '2026-01-02T03:04:05Z',
  '9999-99-99T99:99:99Z',
  '100000000000000000000Gi',
  '1e100000',
  '10m',
  '::1',
  '10.0.0.0/8',
  '(a+)+$',
  '[',
  '(?<x>',
  'a{1001}',
  '\\p{Greek}',
  'a'.repeat(64),
  'b'.repeat(254),
];
const NUMBERS = [0, -0, 1, -1, 0.5, 80, 65_536, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e21, 1e308, 5e-324];

/** chance returns true with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

/** hostileText returns an unexpected text. */
export function hostileText(random: Random): string {
  const share = random.next();
  if (share < 0.9) return pick(random, TEXTS);
  if (share < 0.97) return randomCharacters(random, 1 + integerBelow(random, 40));
  return pick(random, ['x', '(', '😀', '{']).repeat(1 + integerBelow(random, 5_000));
}

/** hostileNumber returns a boundary value. */
export function hostileNumber(random: Random): number {
  return chance(random, 0.8) ? pick(random, NUMBERS) : integerBelow(random, 200) - 100;
}

/** glued joins random tokens: mostly invalid by the grammar, sometimes almost valid. */
export function glued(random: Random, tokens: readonly string[], most: number): string {
  return Array.from({ length: 1 + integerBelow(random, most) }, () => pick(random, tokens)).join('');
}

function randomCharacters(random: Random, count: number): string {
  const range = pick(random, [0x7f, 0xff, 0xffff]);
  return Array.from({ length: count }, () => String.fromCharCode(integerBelow(random, range))).join('');
}
