import { parseJson } from './parse-json.ts';

/**
 * canonicalJson writes a value with the members of objects sorted by name, as the API server does, so that two objects
 * are equal if their texts are equal. Integers beyond 2^53 are bigints and keep their exact value; undefined members
 * are omitted.
 */
export function canonicalJson(value: unknown): string {
  try {
    return JSON.stringify(sorted(value));
  } catch (error) {
    // A bigint is the only value in a parsed document that JSON.stringify rejects.
    if (error instanceof TypeError) return exactJson(value);
    throw error;
  }
}

/** readJson parses a text that `canonicalJson` wrote. */
export function readJson(text: string): unknown {
  return LONG_INTEGER.test(text) ? parseJson(text).value : JSON.parse(text);
}

/** Enough digits to exceed 2^53. In a string such digits are harmless and only select the slower parser. */
const LONG_INTEGER = /\d{16}/;

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value);
  if (names.length > 1) names.sort();
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const below = sorted((value as Record<string, unknown>)[name]);
    if (name === '__proto__') Object.defineProperty(result, name, { value: below, enumerable: true });
    else result[name] = below;
  }
  return result;
}

function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => exactJson(each ?? null)).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .flatMap((name) => {
      const below = (value as Record<string, unknown>)[name];
      return below === undefined ? [] : [`${JSON.stringify(name)}:${exactJson(below)}`];
    });
  return `{${members.join(',')}}`;
}
