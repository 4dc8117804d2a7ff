import { formatValue, quoteText } from '../json/go-text.ts';
import type { FieldProblem, FieldProblemReason } from '../validation/field-problem.ts';

/** Failure is a problem before it is known where the value stands in the whole object. */
export interface Failure {
  /** The path from the validated value on; undefined when the problem has none. */
  readonly path: string | undefined;
  readonly reason: FieldProblemReason;
  readonly message: string;
  /** What makes two failures the same: they are reported once. */
  readonly identity: string;
}

/** Outcome collects failures and counts checks that passed, by which the best branch of an `anyOf` is chosen. */
export class Outcome {
  readonly failures: Failure[] = [];
  readonly #known = new Set<string>();
  matches = 0;

  /** add records a failure once. */
  add(failure: Failure): void {
    if (this.#known.has(failure.identity)) return;
    this.#known.add(failure.identity);
    this.failures.push(failure);
  }

  /** merge takes over another outcome. */
  merge(other: Outcome): void {
    this.matches += other.matches;
    for (const failure of other.failures) this.add(failure);
  }

  /** isValid tells whether nothing failed. */
  get isValid(): boolean {
    return this.failures.length === 0;
  }
}

/** invalid is a value that breaks a constraint. */
export function invalid(path: string, value: unknown, constraint: string): Failure {
  const text = `${path} in body ${constraint}`;
  return {
    path,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${formatValue(value)}: ${text}`,
    identity: text,
  };
}

/** wrongType is a value of another type or format than demanded; `found` is the type, or the text of a wrong format. */
export function wrongType(path: string, expected: string, found: string): Failure {
  const text = `${path} in body must be of type ${expected}: ${quoteText(found)}`;
  return {
    path,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${quoteText(found)}: ${text}`,
    identity: text,
  };
}

/** missing is a required field that is absent. */
export function missing(path: string): Failure {
  return { path, reason: 'FieldValueRequired', message: 'Required value', identity: `${path} in body is required` };
}

/** unsupported is a value that an enumeration does not have. */
export function unsupported(path: string, value: unknown, allowed: readonly unknown[]): Failure {
  const values = allowed.map((item) => quoteText(typeof item === 'string' ? item : formatValue(item)));
  return {
    path,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${formatValue(value)}: supported values: ${values.join(', ')}`,
    identity: `${path} in body should be one of ${values.join(' ')}`,
  };
}

/** tooLong is text with too many characters. The API server speaks of bytes although it counts characters. */
export function tooLong(path: string, most: number): Failure {
  return {
    path,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${most} ${most === 1 ? 'byte' : 'bytes'}`,
    identity: `${path} in body should be at most ${most} chars long`,
  };
}

/** tooMany is a list or map with too many members. */
export function tooMany(path: string, count: number, most: number, what: 'items' | 'properties'): Failure {
  return {
    path,
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${most} ${most === 1 ? 'item' : 'items'}`,
    identity: `${path} in body should have at most ${most} ${what}`,
  };
}

/** unfulfilled is a value that breaks an `allOf`, `anyOf`, `oneOf` or `not`; the API server reports it without a field. */
export function unfulfilled(text: string): Failure {
  return { path: undefined, reason: 'FieldValueInvalid', message: `Invalid value: "": ${text}`, identity: text };
}

/** problemOf places a failure: `base` is the path of the validated value in the whole object. */
export function problemOf(failure: Failure, base: string): FieldProblem {
  const path = failure.path?.replace(/^\./, '') ?? '';
  const field = [base, path].filter((part) => part !== '').join('.');
  return { field: field === '' ? '<nil>' : field, reason: failure.reason, message: failure.message };
}
