import { type FieldProblem, quoteText } from '@bowline/machinery';
import { canonicalJson } from '../../../json/canonical-json.ts';

/** valueText is a value as it stands in a message: text quoted, everything else as JSON. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? quoteText(value) : canonicalJson(value ?? null);
}

/** invalid: the value breaks a rule. */
export function invalid(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${valueText(value)}: ${detail}` };
}

/** StructValue is a value as the server's own type writes it: its members have an order, and names that start with capitals. */
export type StructValue = Readonly<Record<string, unknown>>;

/** invalidStruct is `invalid` of a value that the server's own type writes. */
export function invalidStruct(field: string, value: StructValue, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** notSupportedStruct is `notSupported` of a value that the server's own type writes. */
export function notSupportedStruct(field: string, value: StructValue, supported: readonly string[]): FieldProblem {
  const known = supported.map((each) => quoteText(each)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${known}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

/** invalids are all rules that one value breaks. */
export function invalids(field: string, value: unknown, details: readonly string[]): FieldProblem[] {
  return details.map((detail) => invalid(field, value, detail));
}

/** required: the field is missing, or as good as. */
export function required(field: string, detail = ''): FieldProblem {
  return {
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

/** forbidden: the field may not be set, or not be changed. */
export function forbidden(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

/** duplicate: the value stands twice where it may stand once. */
export function duplicate(field: string, value: unknown): FieldProblem {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${valueText(value)}` };
}

/** notSupported: the value is none of those that there are. */
export function notSupported(field: string, value: string, supported: readonly string[]): FieldProblem {
  const known = supported.map((each) => quoteText(each)).join(', ');
  const message = `Unsupported value: ${quoteText(value)}: supported values: ${known}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

/** tooMany: there are more than there may be. */
export function tooMany(field: string, count: number, most: number): FieldProblem {
  const items = most === 1 ? 'item' : 'items';
  return { field, reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${most} ${items}` };
}

/** IMMUTABLE is what is said of fields that stay as they were created. */
export const IMMUTABLE = 'field is immutable';

/** NOT_NEGATIVE is what is said of amounts below zero. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** notNegative is what is wrong with a count. */
export function notNegative(field: string, value: number | undefined): FieldProblem[] {
  return value !== undefined && value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}

/** outside is what is wrong with a number that has bounds. */
export function outside(field: string, value: number | undefined, least: number, most: number): FieldProblem[] {
  if (value !== undefined && value >= least && value <= most) return [];
  return [invalid(field, value ?? 0, `must be between ${least} and ${most}, inclusive`)];
}

/** oneOf is what is wrong with a value that must be one of few, and must be there. */
export function oneOf(field: string, value: string | undefined, supported: readonly string[]): FieldProblem[] {
  if (!value) return [required(field)];
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}
