/**
 * TextCheck is one requirement of a text. The pattern is used by the API server, as RE2 in a CEL rule, and at run time:
 * it uses only what RE2 and JavaScript have in common, and no single quotes.
 */
export interface TextCheck {
  readonly pattern: string;
  /** Whether the text must match the pattern, or must not. */
  readonly mustMatch: boolean;
  /** A text that matches this pattern is exempt. Defaults to none. */
  readonly unless?: string | undefined;
  /** The problem and how to fix it, after the name of the field. */
  readonly message: string;
}

/** TextLimits are the requirements of a text. */
export interface TextLimits {
  readonly maxLength: number;
  /** In order: only the first problem is reported. */
  readonly checks: readonly TextCheck[];
}

/** matching returns a check of texts that must match a pattern. */
export function matching(pattern: string, message: string): TextCheck {
  return { pattern, mustMatch: true, message };
}

/** notMatching returns a check of texts that must not match a pattern. */
export function notMatching(pattern: string, message: string, unless?: string): TextCheck {
  return { pattern, mustMatch: false, message, unless };
}

const compiled = new Map<string, RegExp>();

/** Patterns are constants of this package, so their number is limited. */
function expressionOf(pattern: string): RegExp {
  const known = compiled.get(pattern) ?? new RegExp(pattern, 'u');
  compiled.set(pattern, known);
  return known;
}

/** textProblem returns what is wrong with a text, and how to fix it. Undefined: nothing. */
export function textProblem(text: string, { maxLength, checks }: TextLimits): string | undefined {
  if (text === '') return 'must not be empty';
  // Characters are counted as by the API server, which takes longer than the length in UTF-16.
  if (text.length > maxLength && [...text].length > maxLength) return `must have at most ${maxLength} characters`;
  return checks.find(
    ({ pattern, mustMatch, unless }) =>
      expressionOf(pattern).test(text) !== mustMatch && (unless === undefined || !expressionOf(unless).test(text)),
  )?.message;
}
