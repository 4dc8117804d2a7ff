import { RE2JS } from 're2js';
import { BoundedMap } from '../collections/bounded-map.ts';
import { BowlineError } from '../errors/bowline-error.ts';

// A CRD has tens of patterns; a server for CRDs of other vendors, or rules that build their patterns, may use any
// number.
const MAX_PATTERNS = 1_000;

const compiled = new BoundedMap<string, RE2JS>({ maxEntries: MAX_PATTERNS });

/**
 * compilePattern compiles an RE2 expression, which matches in linear time, and caches the last thousand. It throws
 * `BOWLINE_SCHEMA_PATTERN` for syntax that RE2 does not support.
 */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const fresh = compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

/** isCompiled reports whether a pattern is in the cache of `compilePattern`, so that compiling it costs nothing. */
export function isCompiled(pattern: string): boolean {
  return compiled.has(pattern);
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    throw new BowlineError(
      'BOWLINE_SCHEMA_PATTERN',
      `the pattern ${JSON.stringify(pattern)} is not a valid RE2 expression: ${patternProblem(cause)}; ` +
        'remove look-around and back-references, or use a validation rule instead',
      { cause },
    );
  }
}

function patternProblem(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** matchesPattern reports whether a pattern matches anywhere in a text, as the API server does. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compilePattern(pattern).matcher(text).find();
}
