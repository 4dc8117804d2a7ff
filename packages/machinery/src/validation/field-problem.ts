/** FieldProblemReason is the machine-readable reason of a problem, as in the `causes` of an API error. */
export type FieldProblemReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueTypeInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

/** FieldProblem is one problem of one field, in the API server's wording. */
export interface FieldProblem {
  /** The path of the field: `spec.selector.matchExpressions[0].key`. */
  readonly field: string;
  readonly reason: FieldProblemReason;
  /** The message without the field: `Invalid value: "a b": …`. */
  readonly message: string;
}

/** invalidValue returns the problem for a field with an invalid value. */
export function invalidValue(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** requiredValue returns the problem for a missing field. */
export function requiredValue(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueRequired', message: `Required value: ${detail}` };
}

/** forbiddenValue returns the problem for a field that must not be set. */
export function forbiddenValue(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

/**
 * describeProblems joins problems as the API server does: a single problem unchanged, several in brackets, without
 * duplicates.
 */
export function describeProblems(problems: readonly FieldProblem[]): string {
  const lines = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  return lines.length === 1 ? `${lines[0]}` : `[${lines.join(', ')}]`;
}
