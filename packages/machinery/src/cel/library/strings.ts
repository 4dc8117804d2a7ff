import type { Matcher } from 're2js';
import { compilePattern } from '../../patterns/compile-pattern.ts';
import { CountedText, OverreadError } from '../../patterns/counted-text.ts';
import { overload } from '../overloads.ts';
import { CelFailure, ListValue } from '../values.ts';
import { formatText, MAX_RESULT_LENGTH } from './string-format.ts';

/** Positions are counted in code points. */
function characters(text: string): string[] {
  return Array.from(text);
}

function outOfRange(index: bigint): CelFailure {
  return new CelFailure(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): string {
  const all = characters(text);
  if (index < 0n || index > BigInt(all.length)) throw outOfRange(index);
  return all[Number(index)] ?? '';
}

function indexOf(text: string, part: string, from = 0n): bigint {
  if (part === '') return from;
  if (from < 0n) throw outOfRange(from);
  const all = characters(text);
  if (from >= BigInt(all.length)) return -1n;
  const skipped = all.slice(0, Number(from)).join('').length;
  const found = text.indexOf(part, skipped);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const all = characters(text);
  if (part === '') return from ?? BigInt(all.length);
  if (from !== undefined && from < 0n) throw outOfRange(from);
  if (from !== undefined && from >= BigInt(all.length)) return -1n;
  const start = from === undefined ? Number.POSITIVE_INFINITY : all.slice(0, Number(from)).join('').length;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function substring(text: string, start: bigint, end?: bigint): string {
  const all = characters(text);
  const length = BigInt(all.length);
  const last = end ?? length;
  if (end !== undefined && start > end) throw new CelFailure(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > length) throw outOfRange(start);
  if (last < 0n || last > length) throw outOfRange(last);
  return all.slice(Number(start), Number(last)).join('');
}

function replaceText(text: string, old: string, replacement: string, times = -1n): string {
  const pieces = old === '' ? ['', ...characters(text), ''] : text.split(old);
  const count = pieces.length - 1;
  const limit = times < 0n || times > BigInt(count) ? count : Number(times);
  const length = text.length + limit * (replacement.length - old.length);
  if (length > MAX_RESULT_LENGTH)
    throw new CelFailure(`the result of replace would have ${length} characters; the limit is ${MAX_RESULT_LENGTH}`);
  let result = pieces[0] ?? '';
  for (let index = 1; index <= count; index++) result += (index <= limit ? replacement : old) + (pieces[index] ?? '');
  return result;
}

function split(text: string, separator: string, limit = -1n): ListValue {
  if (limit === 0n) return new ListValue([]);
  const parts = separator === '' ? characters(text) : text.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return new ListValue(parts);
  const kept = Number(limit) - 1;
  return new ListValue([...parts.slice(0, kept), parts.slice(kept).join(separator)]);
}

// The characters that Go treats as white space; JavaScript's trim also removes the byte order mark.
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Trims from both ends with loops: a pattern anchored at the end would be retried at every space inside the text. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text.charAt(start))) start++;
  while (end > start && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Finding all matches costs about one search, unless every match is searched for up to the end of the text. */
const MAX_READS_PER_CHARACTER = 8;

function findAll(text: string, pattern: string, limit = -1n): ListValue {
  // The engine accepts string objects, although its types do not declare it.
  const counted = new CountedText(text, (text.length + 512) * MAX_READS_PER_CHARACTER) as unknown as string;
  try {
    return allMatches(compilePattern(pattern).matcher(counted), limit);
  } catch (cause) {
    if (!(cause instanceof OverreadError)) throw cause;
    throw new CelFailure(
      `findAll(${JSON.stringify(pattern)}) reads too far ahead for each match; simplify the pattern`,
    );
  }
}

function allMatches(matcher: Matcher, limit: bigint): ListValue {
  const found: string[] = [];
  let end = -1;
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) {
    // Go skips an empty match directly after another match.
    if (matcher.end() > matcher.start() || matcher.start() !== end) found.push(matcher.group() ?? '');
    end = matcher.end();
  }
  return new ListValue(found);
}

function find(text: string, pattern: string): string {
  const matcher = compilePattern(pattern).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

function join(list: ListValue, separator = ''): string {
  const texts = list.items;
  let length = separator.length * texts.length;
  for (const text of texts) {
    // Type checks look only at the first item of a dynamic list.
    if (typeof text !== 'string') throw new CelFailure('no such overload');
    length += text.length;
  }
  if (length > MAX_RESULT_LENGTH)
    throw new CelFailure(`the result of join would have ${length} characters; the limit is ${MAX_RESULT_LENGTH}`);
  return texts.join(separator);
}

const QUOTED: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${characters(text)
    .map((character) => QUOTED[character] ?? character)
    .join('')}"`;
}

/**
 * strings holds the functions on text. Patterns are RE2; literal patterns are checked when the expression is compiled.
 */
export const strings = [
  overload('string.startsWith(string): bool', (text: string, part: string) => text.startsWith(part)),
  overload('string.endsWith(string): bool', (text: string, part: string) => text.endsWith(part)),
  overload('string.contains(string): bool', (text: string, part: string) => text.includes(part)),
  overload('string.matches(string): bool', (text: string, pattern: string) =>
    compilePattern(pattern).matcher(text).find(),
  ),
  overload('matches(string, string): bool', (text: string, pattern: string) =>
    compilePattern(pattern).matcher(text).find(),
  ),
  overload('string.find(string): string', find),
  overload('string.findAll(string): list<string>', findAll),
  overload('string.findAll(string, int): list<string>', findAll),
  overload('string.charAt(int): string', charAt),
  overload('string.indexOf(string): int', indexOf),
  overload('string.indexOf(string, int): int', indexOf),
  overload('string.lastIndexOf(string): int', lastIndexOf),
  overload('string.lastIndexOf(string, int): int', lastIndexOf),
  overload('string.lowerAscii(): string', (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  overload('string.upperAscii(): string', (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  overload('string.replace(string, string): string', replaceText),
  overload('string.replace(string, string, int): string', replaceText),
  overload('string.split(string): list<string>', split),
  overload('string.split(string, int): list<string>', split),
  overload('string.substring(int): string', substring),
  overload('string.substring(int, int): string', substring),
  overload('string.trim(): string', trim),
  overload('string.format(list<dyn>): string', formatText),
  overload('list<string>.join(): string', join),
  overload('list<string>.join(string): string', join),
  overload('strings.quote::(string): string', quote),
];
