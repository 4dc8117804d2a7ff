import { type FieldProblem, MAX_CONTENT_BYTES } from '@bowline/machinery';

const MAX_KEY_LENGTH = 253;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** keyProblems validates a key of a ConfigMap or Secret. */
export function keyProblems(field: string, key: string): FieldProblem[] {
  const details: string[] = [];
  if (key.length > MAX_KEY_LENGTH) details.push(`must be no more than ${MAX_KEY_LENGTH} characters`);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) details.push(KEY_TEXT);
  if (key === '.') details.push("must not be '.'");
  else if (key === '..') details.push("must not be '..'");
  else if (key.startsWith('..')) details.push("must not start with '..'");
  return details.map((detail) => ({
    field: `${field}[${key}]`,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(key)}: ${detail}`,
  }));
}

/** tooLong reports that the values of an object exceed the size limit. */
export function tooLong(field: string): FieldProblem {
  return { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${MAX_CONTENT_BYTES} bytes` };
}

/** immutableProblem reports that a field of an immutable object was changed. */
export function immutableProblem(field: string): FieldProblem {
  return { field, reason: 'FieldValueForbidden', message: 'Forbidden: field is immutable when `immutable` is set' };
}
