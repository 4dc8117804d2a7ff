import type { Matcher, RE2JS } from 're2js';
import { BowlineError } from '../errors/bowline-error.ts';
import { InputError } from '../errors/input-error.ts';
import { compilePattern } from './compile-pattern.ts';
import { CountedText, OverreadError, readsWithin } from './counted-text.ts';

/** ReplaceLimits limits one replacement. */
export interface ReplaceLimits {
  /** The maximum number of steps, as for a CEL expression. Defaults to a million. */
  readonly maxSteps?: number | undefined;
  /** The maximum length of the result in UTF-16 units. Defaults to 16 million. */
  readonly maxLength?: number | undefined;
}

/** Replacement is a compiled pattern with the replacement of its matches. */
export interface Replacement {
  /** The number of instructions of the pattern: the maximum cost of reading one character. */
  readonly instructions: number;
  /**
   * replaceAll replaces every match in a text. It throws `BOWLINE_REPLACEMENT_BUDGET` if it takes too many steps and
   * `BOWLINE_REPLACEMENT_TOO_LONG` if the result is too long.
   */
  replaceAll(text: string, limits?: ReplaceLimits): string;
}

/** A literal text, or the number of a group. */
type Part = string | number;

const MAX_STEPS = 1_000_000;
const MAX_LENGTH = 16_000_000;

/**
 * compileReplacement compiles an RE2 pattern and a replacement: `$1` or `${1}` is a group by number, `${name}` a group
 * by name, `$0` the whole match and `$$` a dollar sign. It throws `BOWLINE_SCHEMA_PATTERN` or
 * `BOWLINE_REPLACEMENT_INVALID`.
 *
 * @example
 * compileReplacement('(\\w+)\\.internal', '$1.example.com').replaceAll('db.internal'); // 'db.example.com'
 */
export function compileReplacement(pattern: string, replacement: string): Replacement {
  const compiled = compilePattern(pattern);
  const parts = partsOf(replacement, compiled);
  const instructions = compiled.programSize();
  return { instructions, replaceAll: (text, limits = {}) => replaceAll(compiled, parts, text, limits) };
}

function partsOf(replacement: string, pattern: RE2JS): readonly Part[] {
  const refuse = (problem: string): never => {
    throw new InputError('BOWLINE_REPLACEMENT_INVALID', 'the replacement', replacement, problem);
  };
  const named = pattern.namedGroups();
  const groups = pattern.groupCount();
  const parts: Part[] = [];
  let end = 0;
  for (const match of replacement.matchAll(/\$(?:(\$)|(\d+)|\{(\w+)\}|)/g)) {
    const [whole, dollar, number, name] = match;
    parts.push(replacement.slice(end, match.index));
    end = match.index + whole.length;
    const reference = number ?? name;
    if (dollar !== undefined) parts.push('$');
    else if (reference === undefined) refuse('a $ must be followed by a group, as in $1, or by another $');
    else {
      const group = /^\d+$/.test(reference)
        ? Number(reference)
        : Object.hasOwn(named, reference)
          ? named[reference]
          : undefined;
      if (group === undefined || group > groups) {
        refuse(
          `the pattern has no group ${reference} (number of groups: ${groups}); separate a group number from following digits as in \${1}0`,
        );
      } else parts.push(group);
    }
  }
  return [...parts, replacement.slice(end)].filter((part) => part !== '');
}

function replaceAll(pattern: RE2JS, parts: readonly Part[], text: string, limits: ReplaceLimits): string {
  const { maxSteps = MAX_STEPS, maxLength = MAX_LENGTH } = limits;
  const counted = new CountedText(text, readsWithin(maxSteps, pattern));
  try {
    // The engine accepts string objects, although its types do not declare it.
    return replaced(pattern.matcher(counted as unknown as string), parts, text, maxLength);
  } catch (cause) {
    if (!(cause instanceof OverreadError)) throw cause;
    throw new BowlineError(
      'BOWLINE_REPLACEMENT_BUDGET',
      `the replacement exceeds the limit of ${maxSteps} steps; simplify the pattern or shorten the text`,
      { cause },
    );
  }
}

function replaced(matcher: Matcher, parts: readonly Part[], text: string, maxLength: number): string {
  let result = '';
  let end = 0;
  const append = (more: string): void => {
    result += more;
    if (result.length <= maxLength) return;
    throw new BowlineError(
      'BOWLINE_REPLACEMENT_TOO_LONG',
      `the result of the replacement is longer than ${maxLength} characters; shorten the replacement or the text`,
    );
  };
  while (matcher.find()) {
    append(text.slice(end, matcher.start()));
    end = matcher.end();
    for (const part of parts) append(typeof part === 'string' ? part : groupOf(matcher, part, text));
  }
  append(text.slice(end));
  return result;
}

/** A group that did not participate in the match is empty. */
function groupOf(matcher: Matcher, group: number, text: string): string {
  const start = matcher.start(group);
  return start < 0 ? '' : text.slice(start, matcher.end(group));
}
