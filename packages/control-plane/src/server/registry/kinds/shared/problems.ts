import { canonicalJson, type FieldProblem, quoteText } from '@bowline/machinery';

/** valueText formats a value for a message: text quoted, everything else as JSON. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? quoteText(value) : canonicalJson(value ?? null);
}

/** invalid reports that the value breaks a rule. */
export function invalid(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${valueText(value)}: ${detail}` };
}

/**
 * StructValue is a value in the form of the server's own type: its members are ordered, and their names are
 * capitalized.
 */
export type StructValue = Readonly<Record<string, unknown>>;

/** invalidStruct is `invalid` for a value in the form of the server's own type. */
export function invalidStruct(field: string, value: StructValue, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** notSupportedStruct is `notSupported` for a value in the form of the server's own type. */
export function notSupportedStruct(field: string, value: StructValue, supported: readonly string[]): FieldProblem {
  const known = supported.map((each) => quoteText(each)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${known}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

/** invalids reports all rules that one value breaks. */
export function invalids(field: string, value: unknown, details: readonly string[]): FieldProblem[] {
  return details.map((detail) => invalid(field, value, detail));
}

/** required reports that the field is missing or empty. */
export function required(field: string, detail = ''): FieldProblem {
  return {
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

/** forbidden reports that the field may not be set, or may not be changed. */
export function forbidden(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

/** duplicate reports a value that occurs twice where it must be unique. */
export function duplicate(field: string, value: unknown): FieldProblem {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${valueText(value)}` };
}

/** notSupported reports that the value is not one of the supported ones. */
export function notSupported(field: string, value: string, supported: readonly string[]): FieldProblem {
  const known = supported.map((each) => quoteText(each)).join(', ');
  const message = `Unsupported value: ${quoteText(value)}: supported values: ${known}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

/** tooMany reports that a list has more items than allowed. */
export function tooMany(field: string, count: number, most: number): FieldProblem {
  const items = most === 1 ? 'item' : 'items';
  return { field, reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${most} ${items}` };
}

/** IMMUTABLE is the message for fields that may not change after creation. */
export const IMMUTABLE = 'field is immutable';

/** NOT_NEGATIVE is the message for amounts below zero. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** notNegative validates that a count is not negative. */
export function notNegative(field: string, value: number | undefined): FieldProblem[] {
  return value !== undefined && value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}

/** outside validates that a number is within its bounds. */
export function outside(field: string, value: number | undefined, least: number, most: number): FieldProblem[] {
  if (value !== undefined && value >= least && value <= most) return [];
  return [invalid(field, value ?? 0, `must be between ${least} and ${most}, inclusive`)];
}

/** oneOf validates a required value that must be one of a few. */
export function oneOf(field: string, value: string | undefined, supported: readonly string[]): FieldProblem[] {
  if (!value) return [required(field)];
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}
