import type { FieldProblem } from '@bowline/machinery';
import { invalid, NOT_NEGATIVE } from './problems.ts';

/** IntOrPercent is a count, or a share of another one. */
export type IntOrPercent = number | string;

const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** countProblems is what is wrong with a count or share. */
export function countProblems(field: string, value: IntOrPercent): FieldProblem[] {
  if (typeof value === 'number') return value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
  return /^[0-9]+%$/.test(value) ? [] : [invalid(field, value, PERCENT)];
}

/** shareProblems is what is wrong with a share of what there is: it is all at most. */
export function shareProblems(field: string, value: IntOrPercent): FieldProblem[] {
  return percentOf(value) > 100 ? [invalid(field, value, 'must not be greater than 100%')] : [];
}

/** isZero says that a count or share comes to nothing. */
export function isZero(value: IntOrPercent): boolean {
  return typeof value === 'number' ? value === 0 : /^0+%$/.test(value) || !/^[0-9]+%$/.test(value);
}

function percentOf(value: IntOrPercent): number {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : 0;
}
