/** FieldProblemReason is the machine-readable kind of a problem, as it stands in the `causes` of an API error. */
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

/** FieldProblem is one thing wrong with one field, in the API server's wording. */
export interface FieldProblem {
  /** The path of the field: `spec.selector.matchExpressions[0].key`. */
  readonly field: string;
  readonly reason: FieldProblemReason;
  /** The text without the field: `Invalid value: "a b": …`. */
  readonly message: string;
}

/** invalidValue says that a field's value breaks a rule. */
export function invalidValue(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** requiredValue says that a field is missing. */
export function requiredValue(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueRequired', message: `Required value: ${detail}` };
}

/** forbiddenValue says that a field must not be set here. */
export function forbiddenValue(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

/** describeProblems joins problems as the API server does: alone as they are, several in brackets, each once. */
export function describeProblems(problems: readonly FieldProblem[]): string {
  const lines = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  return lines.length === 1 ? `${lines[0]}` : `[${lines.join(', ')}]`;
}
