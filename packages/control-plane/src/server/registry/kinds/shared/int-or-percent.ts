import type { FieldProblem } from '@bowline/machinery';
import { invalid, NOT_NEGATIVE } from './problems.ts';

/** IntOrPercent is a count, or a percentage of another count. */
export type IntOrPercent = number | string;

const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** countProblems validates a count or percentage. */
export function countProblems(field: string, value: IntOrPercent): FieldProblem[] {
  if (typeof value === 'number') return value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
  return /^[0-9]+%$/.test(value) ? [] : [invalid(field, value, PERCENT)];
}

/** shareProblems validates a percentage that may not exceed 100%. */
export function shareProblems(field: string, value: IntOrPercent): FieldProblem[] {
  return percentOf(value) > 100 ? [invalid(field, value, 'must not be greater than 100%')] : [];
}

/** isZero reports whether a count or percentage amounts to zero. */
export function isZero(value: IntOrPercent): boolean {
  return typeof value === 'number' ? value === 0 : /^0+%$/.test(value) || !/^[0-9]+%$/.test(value);
}

function percentOf(value: IntOrPercent): number {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : 0;
}
