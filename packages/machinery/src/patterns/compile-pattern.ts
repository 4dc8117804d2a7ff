import { RE2JS } from 're2js';
import { BoundedMap } from '../collections/bounded-map.ts';
import { BowlineError } from '../errors/bowline-error.ts';

// A CRD has tens of patterns; a server of foreign CRDs, or rules that build their patterns, may bring any number.
const MAX_PATTERNS = 1_000;

const compiled = new BoundedMap<string, RE2JS>({ maxEntries: MAX_PATTERNS });

/**
 * compilePattern compiles an RE2 expression, in time linear to the text it is matched with, and remembers the last
 * thousand. It throws `BOWLINE_SCHEMA_PATTERN` for what RE2 does not know.
 */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const fresh = compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

/** isCompiled tells whether `compilePattern` remembers a pattern, so that it costs nothing. */
export function isCompiled(pattern: string): boolean {
  return compiled.has(pattern);
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    throw new BowlineError(
      'BOWLINE_SCHEMA_PATTERN',
      `the pattern ${JSON.stringify(pattern)} is not an RE2 expression: ${patternProblem(cause)}; ` +
        'write it without look-around and back-references, or check the value with a rule',
      { cause },
    );
  }
}

function patternProblem(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** matchesPattern tells whether a pattern matches anywhere in a text, as the API server looks for it. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compilePattern(pattern).matcher(text).find();
}
