import { formatValue, quoteText } from '../json/go-text.ts';
import type { FieldProblem, FieldProblemReason } from '../validation/field-problem.ts';

/** Failure is a problem whose position in the whole object is not known yet. */
export interface Failure {
  /** The path relative to the validated value; undefined if the problem has none. */
  readonly path: string | undefined;
  readonly reason: FieldProblemReason;
  readonly message: string;
  /** Failures with the same identity are reported once. */
  readonly identity: string;
}

/** Outcome collects failures and counts passed checks, to choose the best branch of an `anyOf`. */
export class Outcome {
  readonly failures: Failure[] = [];
  readonly #known = new Set<string>();
  matches = 0;

  /** add records a failure unless it is already recorded. */
  add(failure: Failure): void {
    if (this.#known.has(failure.identity)) return;
    this.#known.add(failure.identity);
    this.failures.push(failure);
  }

  /** merge adds the content of another outcome. */
  merge(other: Outcome): void {
    this.matches += other.matches;
    for (const failure of other.failures) this.add(failure);
  }

  /** isValid reports whether nothing failed. */
  get isValid(): boolean {
    return this.failures.length === 0;
  }
}

/** invalid returns the failure for a value that violates a constraint. */
export function invalid(path: string, value: unknown, constraint: string): Failure {
  const text = `${path} in body ${constraint}`;
  return {
    path,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${formatValue(value)}: ${text}`,
    identity: text,
  };
}

/**
 * wrongType returns the failure for a value of a wrong type or format; `found` is the type, or the text with the wrong
 * format.
 */
export function wrongType(path: string, expected: string, found: string): Failure {
  const text = `${path} in body must be of type ${expected}: ${quoteText(found)}`;
  return {
    path,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${quoteText(found)}: ${text}`,
    identity: text,
  };
}

/** missing returns the failure for a required field that is absent. */
export function missing(path: string): Failure {
  return { path, reason: 'FieldValueRequired', message: 'Required value', identity: `${path} in body is required` };
}

/** unsupported returns the failure for a value that is not in an enumeration. */
export function unsupported(path: string, value: unknown, allowed: readonly unknown[]): Failure {
  const values = allowed.map((item) => quoteText(typeof item === 'string' ? item : formatValue(item)));
  return {
    path,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${formatValue(value)}: supported values: ${values.join(', ')}`,
    identity: `${path} in body should be one of ${values.join(' ')}`,
  };
}

/**
 * tooLong returns the failure for text with too many characters. The API server reports bytes although it counts
 * characters.
 */
export function tooLong(path: string, limit: number): Failure {
  return {
    path,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
    identity: `${path} in body should be at most ${limit} chars long`,
  };
}

/** tooMany returns the failure for a list or map with too many members. */
export function tooMany(path: string, count: number, limit: number, what: 'items' | 'properties'): Failure {
  return {
    path,
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
    identity: `${path} in body should have at most ${limit} ${what}`,
  };
}

/**
 * branchViolation returns the failure for a value that violates an `allOf`, `anyOf`, `oneOf` or `not`; the API server
 * reports it without a field.
 */
export function branchViolation(text: string): Failure {
  return { path: undefined, reason: 'FieldValueInvalid', message: `Invalid value: "": ${text}`, identity: text };
}

/** problemOf converts a failure to a problem: `base` is the path of the validated value in the whole object. */
export function problemOf(failure: Failure, base: string): FieldProblem {
  const path = failure.path?.replace(/^\./, '') ?? '';
  const field = [base, path].filter((part) => part !== '').join('.');
  return { field: field === '' ? '<nil>' : field, reason: failure.reason, message: failure.message };
}
