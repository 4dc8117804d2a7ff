import { formatFloat, isInt64 } from '../json/go-text.ts';
import type { ValueValidation } from '../structural-schema/structural-schema.ts';
import { invalid, type Outcome } from './outcome.ts';

/**
 * checkNumber checks a number against the bounds of a schema. For a whole number, the API server truncates the bounds
 * before it compares, so that 1 satisfies a minimum of 1.5; this function does the same. Whole numbers beyond 2^53 may
 * be bigints.
 */
export function checkNumber(outcome: Outcome, value: number | bigint, schema: ValueValidation, path: string): void {
  const isWhole = isInt64(value);
  const bound = (limit: number): number => (isWhole ? Math.trunc(limit) : limit);
  const write = (limit: number): string => (isWhole ? String(Math.trunc(limit)) : formatFloat(limit));
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (multipleOf !== undefined) checkMultiple(outcome, value, bound(multipleOf), path, write(multipleOf));
  if (minimum !== undefined) {
    if (exclusiveMinimum === true ? value <= bound(minimum) : value < bound(minimum))
      outcome.add(
        invalid(
          path,
          value,
          `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${write(minimum)}`,
        ),
      );
  }
  if (maximum !== undefined) {
    if (exclusiveMaximum === true ? value >= bound(maximum) : value > bound(maximum))
      outcome.add(
        invalid(path, value, `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${write(maximum)}`),
      );
  }
  outcome.matches++;
}

function checkMultiple(outcome: Outcome, value: number | bigint, factor: number, path: string, written: string): void {
  if (factor <= 0) {
    const text = `factor MultipleOf declared for ${path} must be positive: ${written}`;
    outcome.add({ ...invalid(path, factor, ''), message: `Invalid value: ${written}: ${text}`, identity: text });
    return;
  }
  if (!isMultiple(value, factor)) outcome.add(invalid(path, value, `should be a multiple of ${written}`));
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint' && Number.isInteger(factor)) return value % BigInt(factor) === 0n;
  const number = Number(value);
  return isInt64(number) ? number % factor === 0 : isNearlyWhole(factor < 1 ? (1 / factor) * number : number / factor);
}

/** isNearlyWhole tolerates a rounding error of a billionth, up to the largest integer that a double can hold. */
export function isNearlyWhole(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return value > 0 && whole !== 0 && (value - whole) / (value + whole) < 1e-9;
}
